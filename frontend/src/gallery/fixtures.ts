/** Every screen the worker's page can show, as states that a server could send. */

import type { Dialog, Lobby, MessageOut, Released, Role, State, StudyOut, Submit } from "../generated/wire";
import { EMPTY_DRAFT, initialModel, type Model, type Pending } from "../worker/machine/model";
import blurred from "./scene-blurred.svg";
import scene from "./scene.svg";

/** The server's time in all states; clocks stand still so that pictures can be compared. */
export const NOW = 1_000;

export const study: StudyOut = {
  recruiter: "link",
  title: "Talk about a picture",
  description:
    "Two people talk about a picture that only one of them can see. What you say helps to teach computers to describe pictures to people who cannot see them.",
  protocol: "visdial",
  rounds: 10,
  currency: "USD",
  pays: 150,
  leaving_pays: 0,
  waiting_per_minute: 10,
  minutes: 12,
  start_limit_s: 20,
  grace_s: 60,
  turn_limit_s: 180,
  lobby_limit_s: 600,
  consent:
    "You are asked to take part in a research study about how people talk about pictures.\n\nTaking part is voluntary, and you can leave at any time. What you write is stored without your name and may be published so that others can do research with it.\n\nPlease do not write anything by which you or others could be recognised.",
  check: [
    {
      question: "What does the questioner see?",
      options: ["The picture", "One line about the picture", "Both"],
    },
    {
      question: "Your partner leaves in the middle. What happens?",
      options: [
        "I lose my pay",
        "I finish alone and am paid in full",
        "I start again with the same picture",
      ],
    },
  ],
  example: {
    caption: "A woman in a red coat waits at a bus stop.",
    rounds: [
      ["Is she alone?", "No, an older man with a newspaper sits next to her."],
      ["What is the weather like?", "It is raining, and the street is wet."],
      ["Is she carrying anything?", "Yes, a green umbrella in her left hand."],
    ],
  },
  contact: "picture-study@example.org",
  languages: ["en", "ar"],
  repeat_partners: false,
  paused: false,
  preview: false,
  max_characters: 500,
};

/** What a study of volunteers pays. */
export const UNPAID = { pays: 0, leaving_pays: 0, waiting_per_minute: 0 };

/** The study in which a screen is shown: most are of a plain link, some say where else they are. */
export function studyOf(screen: string): StudyOut {
  const recruiter = screen.endsWith("-mturk") ? "mturk" : screen.endsWith("-prolific") ? "prolific" : "link";
  return {
    ...study,
    ...(screen.endsWith("-unpaid-study") ? UNPAID : {}),
    recruiter,
    preview: screen === "preview-not-accepted",
    paused: screen === "preview-paused",
    protocol: screen === "instructions-blurred" ? "visdial-blurred" : study.protocol,
  };
}

const TALK: readonly [string, string][] = [
  ["Is it day or night?", "It is day, and the sun is shining."],
  ["What colour is the house?", "It is red with a dark brown roof."],
  ["Where is the dog?", "It stands on a sandy path in front of the house."],
  ["Is the dog big?", "It is of middle size, and brown."],
  ["Are there any people?", "No, nobody can be seen."],
  ["What is behind the house?", "Green hills, and mountains further away."],
  ["Are there trees?", "Yes, one round tree to the right of the house."],
  ["Does the house have windows?", "Yes, two small ones with light in them."],
  ["Is the door open?", "No, the door is closed."],
  ["Can you see any water?", "No, there is no water in the picture."],
];

const TALK_AR: readonly [string, string][] = [
  ["هل الوقت نهار أم ليل؟", "الوقت نهار والشمس مشرقة."],
  ["ما لون المنزل؟", "أحمر وسقفه بني داكن."],
  ["أين الكلب؟", "يقف على درب رملي أمام المنزل."],
];

/** The first `count` messages, as the person in `role` would see them. */
function said(count: number, role: Role, lang: string): MessageOut[] {
  const talk = lang === "ar" ? TALK_AR : TALK;
  const texts = talk.flatMap(([question, answer]) => [question, answer]);
  return texts.slice(0, count).map((text, index) => {
    const by: Role = index % 2 === 0 ? "questioner" : "answerer";
    const seq = index + 2;
    const key = by === role ? `key-${seq}` : null;
    return { seq, round: Math.floor(index / 2) + 1, role: by, parts: [{ text }], at: NOW - 200 + index, key };
  });
}

function dialog(role: Role, count: number, lang: string, change: Partial<Dialog> = {}): Dialog {
  const messages = said(count, role, lang);
  const turn: Role = messages.length % 2 === 0 ? "questioner" : "answerer";
  const caption = lang === "ar" ? "كلب أمام منزل أحمر بين التلال." : "A dog in front of a red house among hills.";
  const answerer = role === "answerer";
  return {
    role,
    phase: "paired",
    item: { caption, picture: answerer ? scene : null, blurred: false, width: 640, height: 480 },
    round: Math.floor(messages.length / 2) + 1,
    rounds: 10,
    turn,
    your_turn: turn === role,
    sent: messages.filter((message) => message.role === role).length,
    messages,
    told: [],
    extended: [],
    partner: { present: true, left: false, grace_ends_at: null },
    turn_ends_at: NOW + 150,
    may_pair_again: false,
    pays: 150,
    max_characters: 500,
    ...change,
  };
}

const TEAM: Record<string, string> = {
  en: "We see that the picture loads slowly today. Take your time, you lose nothing by it.",
  ar: "نرى أن الصورة تُحمَّل ببطء اليوم. خذ وقتك، لن تخسر شيئاً.",
};
const REASON: Record<string, string> = {
  en: "The picture of this dialog is broken, so it cannot be used.",
  ar: "صورة هذا الحوار معطوبة، ولا يمكن استعمالها.",
};

/** In the dialog after `count` messages, the team has written and given more time. */
function steered(role: Role, count: number, lang: string, change: Partial<Dialog> = {}): Dialog {
  const base = dialog(role, count, lang, change);
  const messages = base.messages.map((m, index) => (index < count - 1 ? m : { ...m, seq: m.seq + 2 }));
  const told = [{ seq: count + 1, text: TEAM[lang] ?? "", at: NOW - 60 }];
  return { ...base, messages, told, extended: [count + 2] };
}

/** As long as an item file and the box allow, and without a space where a line could break. */
const LONG_CAPTION =
  "A crowded market square in the early evening, seen from a balcony: striped awnings over stalls of fruit, bread and flowers, a fountain with four stone lions, children chasing pigeons, two policemen on horses, and behind it all a white church whose tower is wrapped in scaffolding and green nets. ".padEnd(300, "x");
const LONG_TEXT = "Donaudampfschifffahrtsgesellschaft".repeat(15).slice(0, 500);

const plain = (width: number, height: number) =>
  `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="100%" height="100%" fill="#7aa"/><circle cx="50%" cy="50%" r="40" fill="#fd4"/></svg>`)}`;

/** A dialog that is hard to lay out: everything is as long as it may be. */
function strained(role: Role, count: number, size: { width: number; height: number }): Dialog {
  const { messages, item, ...rest } = dialog(role, count, "en");
  const picture = role === "answerer" ? plain(size.width, size.height) : null;
  const long = messages.map((m, index) => (index >= count - 2 ? { ...m, parts: [{ text: LONG_TEXT }] } : m));
  return { ...rest, messages: long, item: { ...item, ...size, caption: LONG_CAPTION, picture } };
}

const TALL = { width: 400, height: 1600 };
const WIDE = { width: 2000, height: 300 };

function model(state: Partial<State>, change: Partial<Model> = {}): Model {
  const whole: State = { stage: "arrived", seq: 1, now: NOW, ...state };
  const start = initialModel({ draft: EMPTY_DRAFT, pending: null });
  return { ...start, link: "online", state: whole, seq: whole.seq, ...change };
}

const lobby: Lobby = {
  waited_s: 74,
  estimate_s: 130,
  position: 3,
  limit_s: 600,
  may_stop: false,
  stop_pays: 20,
  nothing_left: false,
  paused: false,
  now: NOW,
};

const FORM: Submit = { url: "https://example.org/submit", fields: { assignmentId: "A1" }, method: "post" };
const BACK: Submit = { url: "https://example.org/complete", fields: { cc: "C1" }, method: "get" };

const released: Released = {
  release: "completed",
  outcome: "complete",
  cents: 150,
  currency: "USD",
  code: "DUO-7F3K-92QM",
  submit: null,
  feedback_sent: false,
  another: false,
};

const talking = (what: Dialog, change: Partial<Model> = {}) =>
  model({ stage: "talking", dialog: what }, change);
const ended = (change: Partial<Released>, talk: Dialog | null = null) =>
  model({ stage: "released", dialog: talk, released: { ...released, ...change } });
const byTeam = (cents: number, lang: string): Partial<Released> => ({
  release: "ended_by_team",
  outcome: "abandoned",
  cents,
  by_team: true,
  reason: REASON[lang] ?? "",
});
const draft = (text: string) => ({ ...EMPTY_DRAFT, text });
const pending = (status: Pending["status"], text: string): Pending => ({
  key: "pending-key",
  text,
  meta: { pasted: false, composed_ms: 900, edits: 0 },
  status,
});
const alone = (role: Role, count: number, lang: string, change: Partial<Dialog> = {}) => {
  const base = dialog(role, count, lang);
  return talking({
    ...base,
    phase: "solo",
    turn: role,
    your_turn: true,
    round: base.sent + 1,
    partner: { present: false, left: true, grace_ends_at: null },
    ...change,
  });
};

/** The states of an arrival, by the name of the screen they show. */
export const live: Record<string, (lang: string) => Model> = {
  connecting: () => model({}, { state: null, link: "connecting" }),
  arrived: () => model({}),
  "arrived-missed": () => model({ missed_start: true }),
  "arrived-declined": () => model({}, { unmatched: "declined" }),
  waiting: () => model({ stage: "waiting", lobby }),
  "waiting-again": () => model({ stage: "waiting", lobby }, { unmatched: "partner" }),
  "waiting-offline": () => model({ stage: "waiting", lobby }, { link: "offline" }),
  "waiting-choice": () =>
    model({ stage: "waiting", lobby: { ...lobby, waited_s: 612, may_stop: true, stop_pays: 110, position: 1, estimate_s: null } }),
  "waiting-nothing": () =>
    model({ stage: "waiting", lobby: { ...lobby, nothing_left: true, may_stop: true, stop_pays: 20, position: null } }),
  "waiting-paused": () => model({ stage: "waiting", lobby: { ...lobby, paused: true, may_stop: true, position: null } }),
  matched: () => model({ stage: "matched", match: { start_by: NOW + 14, started: false, now: NOW } }),
  "matched-started": () =>
    model({ stage: "matched", match: { start_by: NOW + 9, started: true, now: NOW } }),
  "ask-first": (lang) => talking(dialog("questioner", 0, lang)),
  ask: (lang) => talking(dialog("questioner", 6, lang), { draft: draft("Is the dog on a leash?") }),
  "ask-waiting": (lang) => talking(dialog("questioner", 5, lang), { typingUntil: NOW + 5 }),
  "ask-blurred": (lang) =>
    talking(
      dialog("questioner", 4, lang, {
        item: { caption: null, picture: blurred, blurred: true, width: 640, height: 480 },
      }),
    ),
  "ask-all-sent": (lang) => talking(dialog("questioner", 19, lang)),
  "ask-all-sent-mturk": (lang) => talking(dialog("questioner", 19, lang)),
  "ask-all-sent-prolific": (lang) => talking(dialog("questioner", 19, lang)),
  "ask-all-sent-away": (lang) =>
    talking(
      dialog("questioner", 19, lang, {
        partner: { present: false, left: false, grace_ends_at: NOW + 47 },
      }),
    ),
  answer: (lang) => talking(dialog("answerer", 5, lang), { draft: draft("It stands on a sandy path") }),
  "answer-first": (lang) => talking(dialog("answerer", 0, lang)),
  "answer-long": (lang) => talking(dialog("answerer", 9, lang), { draft: draft("very ".repeat(104)) }),
  "turn-ends": (lang) => talking(dialog("answerer", 7, lang, { turn_ends_at: NOW + 42 })),
  "partner-slow": (lang) => talking(dialog("questioner", 7, lang, { turn_ends_at: NOW + 31 })),
  sending: (lang) =>
    talking(dialog("answerer", 7, lang), { pending: pending("sending", "It is of middle size, and brown.") }),
  unsent: (lang) =>
    talking(dialog("answerer", 7, lang), { pending: pending("unsent", "It is of middle size, and brown.") }),
  offline: (lang) =>
    talking(dialog("answerer", 7, lang), {
      link: "offline",
      pending: pending("unsent", "It is of middle size, and brown."),
    }),
  refused: (lang) =>
    talking(dialog("questioner", 8, lang), {
      draft: draft("Are there any people?"),
      refused: { code: "try_again", error: "That could not be stored just now. Please send it again." },
    }),
  told: (lang) => talking(steered("answerer", 5, lang)),
  "told-asking": (lang) => talking(steered("questioner", 6, lang)),
  "told-long": (lang) => {
    const long = steered("questioner", 3, lang);
    return talking({ ...long, told: long.told.map((each) => ({ ...each, text: LONG_TEXT })) });
  },
  away: (lang) =>
    talking(
      dialog("questioner", 7, lang, {
        partner: { present: false, left: false, grace_ends_at: NOW + 47 },
      }),
    ),
  "solo-ask": (lang) => alone("questioner", 9, lang),
  "solo-ask-first": (lang) => alone("questioner", 0, lang),
  "solo-answer-open": (lang) => alone("answerer", 7, lang),
  "solo-answer": (lang) => alone("answerer", 8, lang),
  "solo-early": (lang) => alone("answerer", 0, lang, { may_pair_again: true }),
  "solo-again": (lang) => alone("answerer", 7, lang, { may_pair_again: true }),
  "strained-ask": () => talking(strained("questioner", 18, TALL), { draft: draft(LONG_TEXT) }),
  "strained-tall": () => talking(strained("answerer", 19, TALL), { draft: draft(LONG_TEXT) }),
  "strained-wide": () => talking(strained("answerer", 19, WIDE)),
  "strained-solo": () =>
    talking({
      ...strained("answerer", 1, TALL),
      phase: "solo",
      turn: "answerer",
      your_turn: true,
      may_pair_again: true,
      partner: { present: false, left: true, grace_ends_at: null },
      turn_ends_at: NOW + 42,
    }),
  "strained-end": () => ended({}, { ...strained("answerer", 20, TALL), phase: "ended", turn: null, your_turn: false }),
  completed: (lang) =>
    ended({}, { ...dialog("questioner", 20, lang), phase: "ended", turn: null, your_turn: false }),
  "completed-another": () => ended({ another: true, feedback_sent: true }),
  "completed-mturk": () => ended({ submit: FORM }),
  "completed-in-parts-mturk": () => ended({ submit: { ...FORM, reward: 10 } }),
  "completed-by-hand-mturk": () =>
    ended({ submit: { ...FORM, reward: 10, by_hand: true, reward_after_s: 604_800 } }),
  "completed-by-hand-whole-mturk": () =>
    ended({ submit: { ...FORM, reward: 150, by_hand: true, reward_after_s: 604_800 } }),
  "completed-by-hand-prolific": () => ended({ submit: { ...BACK, by_hand: true } }),
  "completed-prolific": () => ended({ submit: BACK }),
  "finished-alone": () => ended({ release: "finished_alone", outcome: "solo" }),
  left: () => ended({ release: "left", outcome: "abandoned", cents: 0, why: "leave", another: true }),
  "left-mturk": () => ended({ release: "left", outcome: "abandoned", cents: 0, why: "leave" }),
  "left-paid-mturk": () =>
    ended({ release: "left", outcome: "abandoned", cents: 30, why: "leave", submit: FORM }),
  "left-prolific": () =>
    ended({ release: "left", outcome: "abandoned", cents: 0, why: "leave", submit: BACK }),
  "left-away": () => ended({ release: "left", outcome: "solo", cents: 0, why: "grace" }),
  "never-paired": () => ended({ release: "never_paired", outcome: null, cents: 110 }),
  "never-paired-unpaid": () =>
    ended({ release: "never_paired", outcome: null, cents: 0, another: true }),
  "never-paired-prolific": () =>
    ended({ release: "never_paired", outcome: null, cents: 110, submit: BACK }),
  returned: () => ended({ release: "returned", outcome: null, cents: 0, another: true }),
  "returned-mturk": () => ended({ release: "returned", outcome: null, cents: 0 }),
  "study-full": () => ended({ release: "study_full", outcome: null, cents: 20 }),
  "time-over": () => ended({ release: "ended_by_team", outcome: "abandoned" }),
  "ended-by-team": (lang) =>
    ended(byTeam(150, lang), { ...steered("answerer", 5, lang), phase: "ended", turn: null, your_turn: false }),
  "ended-by-team-unpaid": (lang) => ended({ ...byTeam(0, lang), reason: "", another: true }),
  "ended-by-team-mturk": (lang) => ended({ ...byTeam(90, lang), submit: FORM }),
  "ended-by-team-unpaid-mturk": (lang) => ended(byTeam(0, lang)),
  "ended-by-team-prolific": (lang) => ended({ ...byTeam(150, lang), submit: BACK }),
  "ended-by-team-less-prolific": (lang) => ended({ ...byTeam(90, lang), submit: BACK }),
  "ended-by-team-unpaid-prolific": (lang) => ended({ ...byTeam(0, lang), submit: BACK }),
  "waiting-unpaid-study": () => model({ stage: "waiting", lobby: { ...lobby, stop_pays: 0 } }),
  "ask-unpaid-study": (lang) => talking(dialog("questioner", 6, lang, { pays: 0 })),
  "solo-unpaid-study": (lang) => alone("answerer", 8, lang, { pays: 0 }),
  "completed-unpaid-study": () => ended({ cents: 0, another: true }),
  replaced: () =>
    model({}, { link: "stopped", stopped: { code: "replaced", error: "This page is open in another tab." } }),
  "bad-token": () =>
    model({}, { link: "stopped", stopped: { code: "bad_token", error: "This link is no longer valid. Please load the page again." } }),
};
