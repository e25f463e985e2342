/** Every state of the monitor's views: where, what the server says, and what is pressed then. */

import type { AdminRole, DialogOut } from "../../generated/monitor";
import * as data from "./data";
import { Refusal, SILENCE, type Answers, type Told } from "./server";

export interface Screen {
  at: string;
  role?: AdminRole;
  answers?: Answers;
  told?: Told;
  /** Test ids of what is pressed, one after the other; `=text` writes into the last one. */
  press?: readonly string[];
  /** Keys that are pressed, one after the other. */
  keys?: readonly string[];
}

const NOTHING = { rows: [], total: 0, next: null };
const dialog = (what: DialogOut, more: Partial<Screen> = {}): Screen => ({
  at: `/monitor/dialogs/${what.id}`,
  answers: { "dialogs/*": what },
  ...more,
});
const inHand = (what: DialogOut | null, second = false) => ({
  "review/next": { dialog: what, until: what && data.NOW + 600, second, waiting: what ? 12 : 0 },
});
const DOWN = new Refusal(503, "Please try again in a moment.", "try_again");

/** The study as it is at first, and as somebody else has changed it by the second time. */
function overtaken(): () => unknown {
  let asked = 0;
  return () => (asked++ === 0 ? data.study : { ...data.study, changes: { grace_s: 90 } });
}

export const screens: Record<string, Screen> = {
  now: { at: "/monitor" },
  "now-trouble": { at: "/monitor", told: { now: data.troubled, link: "lost" }, answers: { now: data.troubled } },
  "now-calm": {
    at: "/monitor",
    told: { now: data.calm, board: { ...data.board(31), rows: data.board(3).rows.slice(0, 2) } },
    answers: { now: data.calm },
  },
  "now-empty": {
    at: "/monitor",
    told: { now: data.empty, board: data.board(0) },
    answers: { now: data.empty, ledger: { ...NOTHING, sums: [] }, chart: { step_s: 60, points: [] } },
  },
  "now-empty-link": {
    at: "/monitor",
    told: { now: data.empty, board: data.board(0) },
    answers: { me: { ...data.me, study: { ...data.me.study, posts: false, work: "https://study.example.org/work" } }, now: data.empty },
  },
  "now-empty-invited": {
    at: "/monitor",
    told: { now: data.empty, board: data.board(0) },
    answers: { me: { ...data.me, study: { ...data.me.study, posts: false } }, now: data.empty },
  },
  "now-young": { at: "/monitor", told: { now: { ...data.now, began_at: data.NOW - 200 } } },
  "now-full": { at: "/monitor", told: { board: data.board(200) } },
  "now-busy": { at: "/monitor", told: { board: data.board(200), busy: true } },
  "now-loading": { at: "/monitor", told: { link: "connecting" }, answers: { now: SILENCE } },
  "now-table": { at: "/monitor", press: ["as-table"] },
  "now-menu": { at: "/monitor", press: ["menu", "account"] },

  dialogs: { at: "/monitor/dialogs" },
  "dialogs-none": { at: "/monitor/dialogs", answers: { dialogs: NOTHING } },
  "dialogs-filtered": { at: "/monitor/dialogs?outcome=solo&flag=too_fast", answers: { dialogs: NOTHING } },
  "dialogs-loading": { at: "/monitor/dialogs", answers: { dialogs: SILENCE } },
  "dialogs-failed": { at: "/monitor/dialogs", answers: { dialogs: DOWN } },

  dialog: dialog(data.live, { told: { typing: true } }),
  "dialog-viewer": dialog(data.live, { role: "viewer" }),
  "dialog-solo": dialog(data.solo),
  "dialog-judged": dialog(data.judged),
  "dialog-abandoned": dialog(data.abandoned),
  "dialog-ended-by-team": dialog(data.endedByTeam),
  "dialog-message": dialog(data.live, { press: ["act-tell"] }),
  "dialog-extend": dialog(data.live, { press: ["act-extend"] }),
  "dialog-end": dialog(data.live, { press: ["act-end"] }),
  "dialog-end-own": dialog(data.live, { press: ["act-end", "radio:own", "ask-submit"] }),
  "dialog-end-done": dialog(data.nearlyDone, { press: ["act-end", "radio:own"] }),
  "dialog-flag": dialog(data.live, { press: ["act-flag"] }),
  "dialog-missing": { at: "/monitor/dialogs/d0", answers: { "dialogs/*": new Refusal(404, "There is no such dialog.", "bad_request") } },

  review: { at: "/monitor/review" },
  "review-unflagged": { at: "/monitor/review?unflagged=true" },
  "review-flag-chosen": { at: "/monitor/review?flag=too_fast" },
  "review-second": { at: "/monitor/review", answers: inHand({ ...data.complete, payments: [] }, true) },
  "review-incomplete": { at: "/monitor/review", answers: inHand(data.abandoned) },
  "review-refused": { at: "/monitor/review", keys: ["j", "j", "P"], press: ["accept"] },
  "review-reject": { at: "/monitor/review", press: ["reject"] },
  "review-keys": { at: "/monitor/review", press: ["help"] },
  "review-bulk": { at: "/monitor/review?outcome=complete", press: ["bulk"] },
  "review-none": { at: "/monitor/review", answers: inHand(null) },
  "review-failed": { at: "/monitor/review", answers: { "review/next": DOWN } },
  "review-viewer": { at: "/monitor/review", role: "viewer" },
  "review-done": { at: "/monitor/review", press: ["accept"] },

  workers: { at: "/monitor/workers" },
  "workers-none": { at: "/monitor/workers", answers: { workers: NOTHING } },
  worker: { at: `/monitor/workers/${data.A}` },
  "worker-excluded": { at: `/monitor/workers/${data.A}`, answers: { "workers/*": data.excluded } },
  "worker-viewer": { at: `/monitor/workers/${data.A}`, role: "viewer", answers: { "workers/*": { ...data.worker, external_id: null, notes: [], requests: [], payments: [], dialogs: [] } } },
  "worker-exclude": { at: `/monitor/workers/${data.A}`, press: ["act-exclude"] },
  "worker-bonus": { at: `/monitor/workers/${data.A}`, press: ["act-bonus", "bonus-amount", "=0.50"] },
  "worker-message": { at: `/monitor/workers/${data.A}`, press: ["act-write", "ask-submit"] },

  money: { at: "/monitor/money" },
  "money-none": { at: "/monitor/money", answers: { ledger: { ...NOTHING, sums: [] }, requests: { ...NOTHING, states: {} }, hits: { ...data.hits, ...NOTHING, states: {}, why: "The study is paused." }, chains: NOTHING } },
  "money-approve": { at: "/monitor/money", press: ["choose:0", "choose:1", "choose:3", "approve"] },
  "money-requests": { at: "/monitor/money?request_state=failed", answers: { requests: { ...data.requests, rows: data.requests.rows.filter(({ state }) => state === "failed"), total: 1, next: null } } },
  "money-request-again": { at: "/monitor/money", press: ["request-again"] },
  "money-request-dismiss": { at: "/monitor/money", press: ["request-dismiss"] },
  "money-retry": { at: "/monitor/money?state=failed", press: ["choose:2", "choose:3", "retry"] },

  study: { at: "/monitor/study" },
  "study-paused": { at: "/monitor/study", role: "viewer", answers: { study: { ...data.study, status: "paused" } }, told: { now: { ...data.now, status: "paused" } } },
  "study-pause": { at: "/monitor/study", press: ["pause"] },
  "study-wrong": { at: "/monitor/study", press: ["limit-pay_complete", "=1.555", "limits-review"] },
  "study-overtaken": {
    at: "/monitor/study",
    answers: { study: overtaken() },
    press: ["limit-pay_complete", "=1.80", "pause", "ask-submit"],
  },
  "study-change": { at: "/monitor/study", press: ["limit-pay_complete", "=1.80", "limits-review"] },

  log: { at: "/monitor/log" },
  "log-none": { at: "/monitor/log", answers: { audit: NOTHING } },

  "sign-in": { at: "/sign-in?next=/monitor/review", answers: { me: new Refusal(401, "Please sign in.", "signed_out") } },
  "sign-in-wrong": {
    at: "/sign-in",
    answers: { me: new Refusal(401, "Please sign in.", "signed_out"), "sign-in": new Refusal(401, "The name or the password is wrong.", "wrong") },
    press: ["name", "=Amira", "password", "=x", "sign-in"],
  },
  "sign-in-wait": {
    at: "/sign-in",
    answers: { me: new Refusal(401, "Please sign in.", "signed_out"), "sign-in": new Refusal(429, "That was tried too often.", "too_many", "240") },
    press: ["name", "=Amira", "password", "=x", "sign-in"],
  },
  unreachable: { at: "/monitor", answers: { me: DOWN } },
  missing: { at: "/monitor/nowhere" },
};
