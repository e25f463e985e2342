import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import * as data from "../gallery/monitor/data";
import { screens } from "../gallery/monitor/screens";
import { fakeFetch, fakeSocket, Refusal, type Answers, type Told } from "../gallery/monitor/server";
import { Api } from "./api";
import { App } from "./App";
import { SLOW } from "./board";
import { Clock } from "./clock";
import { Tile } from "./now/Grid";
import { Router, type Site } from "./router";

// It draws on a canvas, which only a browser has; the looking script sees it there.
vi.mock("uplot", () => ({
  default: class {
    destroy() {}
    setData() {}
    setSeries() {}
    setSize() {}
  },
}));

// A whole page with many dialogs takes its time on a busy machine.
vi.setConfig({ testTimeout: 20_000 });

interface Sent {
  path: string;
  body: Record<string, unknown>;
}

let root: HTMLElement;
let here: string;
let sent: Sent[];
let gets: string[];
let clock: Clock;

beforeEach(() => {
  vi.stubGlobal("ResizeObserver", class { observe() {} disconnect() {} });
  vi.stubGlobal("scrollTo", () => undefined);
  root = document.createElement("div");
  document.body.append(root);
  sent = [];
  gets = [];
});
afterEach(async () => {
  await act(() => render(null, root));
  root.remove();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** An answer is drawn, what is drawn asks again, and so on: a few times is enough for every view. */
async function settle(): Promise<void> {
  for (let n = 0; n < 8; n += 1) await act(() => new Promise<void>((next) => setTimeout(next)));
}

async function open(at: string, answers: Answers = {}, told: Told = {}): Promise<Router> {
  here = at;
  const site: Site = {
    read: () => here,
    push: (href) => void (here = href),
    replace: (href) => void (here = href),
    watch: () => () => undefined,
  };
  const served = fakeFetch(answers);
  const api = new Api((input, init) => {
    const path = String(input).replace("/api/monitor/", "");
    if (init?.method === "POST") sent.push({ path, body: JSON.parse(String(init.body)) as Record<string, unknown> });
    else gets.push(path);
    return served(input, init);
  });
  clock = new Clock(() => data.NOW);
  const router = new Router(site);
  await act(() => render(<App api={api} clock={clock} router={router} open={fakeSocket(told, answers)} />, root));
  await settle();
  return router;
}

const find = (testid: string) => document.querySelector<HTMLElement>(`[data-testid="${testid}"]`);
const text = (testid: string) => find(testid)?.textContent ?? "";
async function press(testid: string): Promise<void> {
  await act(() => find(testid)?.click());
  await settle();
}
async function key(name: string, target: EventTarget = document.body): Promise<void> {
  await act(() => void target.dispatchEvent(new KeyboardEvent("keydown", { key: name, shiftKey: name === "P", bubbles: true, cancelable: true })));
  await settle();
}
async function write(testid: string, value: string): Promise<void> {
  const field = find(testid) as HTMLInputElement;
  await act(() => {
    field.value = value;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
}
const last = () => sent.filter(({ path }) => !path.startsWith("review/next")).at(-1);
const as = (role: string): Answers => ({ me: { ...data.me, role } });

describe("every state of the gallery", () => {
  it.each(Object.entries(screens))("%s shows one heading and a title", async (name, screen) => {
    document.title = "";
    await open(screen.at, { ...as(screen.role ?? "owner"), ...screen.answers }, screen.told);
    expect(document.querySelectorAll("h1")).toHaveLength(1);
    expect(root.textContent).not.toContain("This view has failed");
    expect(root.textContent).not.toMatch(/undefined|NaN|\[object/);
    if (name !== "unreachable") expect(document.title).not.toBe("");
  });
});

describe("who is not signed in", () => {
  const out = new Refusal(401, "Please sign in.", "signed_out");

  it("signs in and goes on where they were", async () => {
    await open("/monitor/dialogs?phase=solo", { me: out, "sign-in": data.me });
    expect(here).toBe("/sign-in?next=%2Fmonitor%2Fdialogs%3Fphase%3Dsolo");
    await write("name", "Amira");
    await write("password", "secret");
    await press("sign-in");
    expect(here).toBe("/monitor/dialogs?phase=solo");
    expect(find("dialogs")).not.toBeNull();
  });

  it("causes no error by coming to sign in, and is let in who was signed in already", async () => {
    await open("/sign-in", { me: out });
    expect(gets).toEqual(["/api/sign-in"]);
    expect(find("sign-in")).not.toBeNull();
    await act(() => render(null, root));
    await open("/sign-in?next=/monitor/log", { me: out, "signed-in": { me: data.me } });
    expect(here).toBe("/monitor/log");
  });

  it("is asked to wait after too many tries, and cannot try before", async () => {
    await open("/sign-in", { me: out, "sign-in": new Refusal(429, "That was tried too often.", "too_many", "240") });
    await write("name", "Amira");
    await write("password", "x");
    await press("sign-in");
    expect(root.textContent).toContain("That was tried too often.");
    expect(root.textContent).toContain("in 4 min");
    await press("sign-in");
    expect(sent).toHaveLength(1);
  });

  it("is brought to the sign-in from wherever the server says so, and keeps the place", async () => {
    await open("/monitor/workers", { workers: out });
    expect(here).toBe("/sign-in?next=%2Fmonitor%2Fworkers");
    expect(find("sign-in")).not.toBeNull();
  });
});

describe("the live view", () => {
  it("puts what needs somebody first, and leads there", async () => {
    await open("/monitor");
    const links = [...(find("attention")?.querySelectorAll("a") ?? [])];
    expect(links.map((a) => a.getAttribute("href"))).toEqual([
      "/monitor/money?problem=true",
      "/monitor/money?request_state=failed",
      "/monitor/workers#told",
      "#live",
      "#live",
      "/monitor/money?state=owed",
      "/monitor/review",
    ]);
    expect(text("attention")).toContain("3 payments failed or held, $4.50");
    expect(text("attention")).toContain("1 request to the recruiter failed");
    expect(text("attention")).toContain("1 problem reported in the last hour");
    expect(text("attention")).toContain("2 live dialogs are flagged");
    expect(text("attention")).toContain("2 payments wait for approval, $1.60");
    expect(document.querySelectorAll("[data-testid=tile]")).toHaveLength(31);
    expect(find("tile")?.textContent).toContain("2 flags");
    await act(() => links.at(-1)?.click());
    await settle();
    expect(here).toBe("/monitor/review");
  });

  it("says that all is done, rather than that nobody knows when", async () => {
    const now = { ...data.now, done: data.now.places, ends_at: null };
    await open("/monitor", { now }, { now });
    expect(text("figures")).toContain("every place has its dialog");
    expect(text("figures")).not.toContain("unknown");
  });

  it("knows what is stuck without asking for the ledger", async () => {
    await open("/monitor");
    expect(gets.filter((path) => path.startsWith("ledger") || path.startsWith("requests"))).toEqual([]);
  });

  it("says since when it is not live", async () => {
    const clockOfThePage = vi.spyOn(Date, "now").mockReturnValue(data.NOW * 1_000);
    await open("/monitor", {}, { link: "lost" });
    clockOfThePage.mockRestore();
    expect(text("lost")).toMatch(/has been lost since \d\d:\d\d:\d\d/);
    expect(text("status")).toContain("Not live");
  });

  it("ticks by moving texts on, not by drawing two hundred tiles again", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    let time = data.NOW;
    await open("/monitor", {}, { board: data.board(200) });
    vi.spyOn(clock, "now").mockImplementation(() => time);
    const tile = find("tile");
    const silence = tile?.querySelector(".tile-silence .num");
    const before = silence?.textContent;
    const changes: MutationRecord[] = [];
    const seen = new MutationObserver((records) => changes.push(...records));
    seen.observe(find("grid")!, { subtree: true, childList: true, attributes: true });
    time += 1;
    await act(() => void vi.advanceTimersByTime(1_000));
    expect(silence?.textContent).not.toBe(before);
    expect(changes).toHaveLength(0);
    expect(find("tile")).toBe(tile);
    seen.disconnect();
  });

  it("draws anew only the tiles whose dialog has changed", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    let time = data.NOW;
    const rows = data.board(40).rows.map((row) => ({ ...row, turn_at: data.NOW, turn_ends_at: data.NOW + 180 }));
    await open("/monitor", {}, { board: { ...data.board(0), rows } });
    vi.spyOn(clock, "now").mockImplementation(() => time);
    const drawn = vi.spyOn(Tile.prototype, "render");
    time += 5;
    await act(() => void vi.advanceTimersByTime(5_000));
    expect(drawn).not.toHaveBeenCalled();
    // By then all of them are slow, which is to be seen.
    time += SLOW * 180;
    await act(() => void vi.advanceTimersByTime(5_000));
    expect(drawn).toHaveBeenCalled();
    drawn.mockRestore();
  });

  it("leaves no listener and no ticking thing behind, however often views are changed", async () => {
    const router = await open("/monitor", {}, { board: data.board(3) });
    const go = async (href: string) => {
      await act(() => router.go(href));
      await settle();
    };
    const round = async () => {
      for (const href of [`/monitor/dialogs/${data.live.id}`, "/monitor/review", "/monitor/money", "/monitor"]) await go(href);
    };
    await round();
    const [ticking, watchers] = [clock.ticking, router.at.watchers];
    for (let n = 0; n < 2; n += 1) await round();
    expect([clock.ticking, router.at.watchers]).toEqual([ticking, watchers]);
    await go("/monitor/workers");
    expect(clock.ticking).toBe(0);
  });
});

describe("a study to which nobody has come", () => {
  const begins = (study: Partial<typeof data.me.study>, status: "open" | "paused" = "open") => {
    const now = { ...data.empty, status };
    return open("/monitor", { me: { ...data.me, study: { ...data.me.study, ...study } }, now }, { now });
  };
  const link = () => find("begin")?.querySelector("a")?.getAttribute("href");

  it("says what is next, with the address where it leads", async () => {
    await begins({ posts: false, work: "https://study.example.org/work" });
    expect(link()).toBe("https://study.example.org/work");
    expect(text("begin")).toContain("to try it");
    expect(text("chart")).toContain("from the first arrival on");
    await act(() => render(null, root));
    await begins({ posts: false, work: "" });
    expect(text("begin")).toContain("duologue hits invite");
    await act(() => render(null, root));
    await begins({ posts: true, work: "" });
    expect(text("begin")).toContain("posted by themselves");
    expect(link()).toBe("/monitor/money");
    await act(() => render(null, root));
    await begins({ posts: true, work: "" }, "paused");
    expect(link()).toBe("/monitor/study");
  });

  it("says no more of it once somebody has", async () => {
    await open("/monitor");
    expect(find("begin")).toBeNull();
  });
});

describe("a dialog", () => {
  const at = `/monitor/dialogs/${data.live.id}`;

  it("says that a verdict is missing only where there can be one", async () => {
    const over = (outcome: "complete" | "abandoned") => ({ ...data.complete, acceptance: null, standing: { ...data.complete.standing, outcome, ending: outcome } });
    await open(at, { "dialogs/*": over("complete") });
    expect(text("facts")).toContain("undecided");
    await act(() => render(null, root));
    await open(at, { "dialogs/*": over("abandoned") });
    expect(text("facts")).not.toContain("undecided");
  });

  it("says that the team ended it, and that its time ran out", async () => {
    const over = (ending: "ended_by_team" | "time_limit") => ({
      ...data.endedByTeam,
      entries: [{ seq: 1, at: data.NOW, kind: "ended" as const, why: ending }],
      standing: { ...data.endedByTeam.standing, ending },
    });
    await open(at, { "dialogs/*": over("ended_by_team") });
    expect(text("facts")).toContain("Ended by the team");
    expect(text("transcript")).toContain("The team ended the dialog");
    await act(() => render(null, root));
    await open(at, { "dialogs/*": over("time_limit") });
    expect(text("facts")).toContain("Out of time");
    expect(text("transcript")).toContain("The dialog’s time ran out");
    expect(root.textContent).not.toMatch(/abandoned/i);
  });

  it("shows what people wrote as text, each in its own direction", async () => {
    await open(at, { "dialogs/*": data.complete });
    const said = [...document.querySelectorAll(".said-text")];
    expect(said.at(-1)?.textContent).toContain("<b>None</b>");
    expect(said.every((each) => each.getAttribute("dir") === "auto")).toBe(true);
    expect(document.querySelector(".said-text b")).toBeNull();
  });

  it("offers its actions only to those who may", async () => {
    await open(at, as("viewer"));
    expect(["act-tell", "act-extend", "act-end", "act-flag"].map(find)).toEqual([null, null, null, null]);
  });

  it("offers only a flag once it is over", async () => {
    await open(at, { "dialogs/*": data.complete });
    expect(["act-tell", "act-end"].map(find)).toEqual([null, null]);
    expect(find("act-flag")).not.toBeNull();
  });

  it("ends with a reason and an amount for each, which are shown before", async () => {
    await open(at, {});
    await press("act-end");
    expect(text("ask-submit")).toBe("End it and pay $3.00");
    await press("ask-submit");
    expect(text("problem")).toBe("Write the reason.");
    expect(sent).toHaveLength(0);
    await write("end-reason", "The picture did not load");
    await act(() => document.querySelector<HTMLInputElement>('input[value="own"]')?.click());
    await write("end-questioner", "1.00");
    expect(text("ask-submit")).toBe("End it and pay $2.50");
    await press("ask-submit");
    expect(last()).toMatchObject({
      path: `dialogs/${data.live.id}/end`,
      body: { reason: "The picture did not load", cents: { questioner: 100, answerer: 150 } },
    });
  });

  it("is paid by the rules it began with, and never less to who has sent everything", async () => {
    await open(`/monitor/dialogs/${data.nearlyDone.id}`, { "dialogs/*": data.nearlyDone });
    await press("act-end");
    expect(text("ask-submit")).toBe("End it and pay $2.40");
    await act(() => document.querySelector<HTMLInputElement>('input[value="own"]')?.click());
    expect(find("end-questioner")).toBeNull();
    expect(text("end-full-questioner")).toContain("has sent everything, and is paid in full: $1.20");
    await write("end-answerer", "0.40");
    await write("end-reason", "Enough");
    expect(text("ask-submit")).toBe("End it and pay $1.60");
    await press("ask-submit");
    expect(last()?.body).toMatchObject({ cents: { answerer: 40 } });
    expect(last()?.body.cents).not.toHaveProperty("questioner");
    expect(gets).not.toContain("study");
  });

  it.each([
    ["a flag", at, "act-flag", ["flag-reason"]],
    ["a message to a worker", `/monitor/workers/${data.A}`, "act-write", ["write-subject", "write-text"]],
  ])("sends %s under one key, however often it has to be tried", async (_, where, action, fields) => {
    const no = new Refusal(503, "Please try again.", "try_again");
    await open(where, { [`dialogs/${data.live.id}/flag`]: no, [`workers/${data.A}/message`]: no });
    await press(action);
    for (const field of fields) await write(field, "Hello");
    await press("ask-submit");
    await press("ask-submit");
    expect(sent).toHaveLength(2);
    expect(sent[0]?.body).toEqual(sent[1]?.body);
    expect(sent[0]?.body.key).toMatch(/^[A-Za-z0-9_-]{8,64}$/);
  });

  it("writes each note under a key of its own", async () => {
    await open(`/monitor/workers/${data.A}`);
    for (const note of ["One", "Two"]) {
      await write("note-text", note);
      await press("note-add");
    }
    const keys = sent.map(({ body }) => body.key);
    expect(keys.every((each) => /^[A-Za-z0-9_-]{8,64}$/.test(String(each)))).toBe(true);
    expect(new Set(keys).size).toBe(2);
  });

  it("calls flags by their labels, and says what they mean", async () => {
    await open(at, { "dialogs/*": data.complete });
    const pills = [...document.querySelectorAll<HTMLElement>(".flag-line .pill[title]")];
    expect(pills.map((pill) => pill.textContent)).toContain("⚑ by the team");
    expect(pills.find((pill) => pill.textContent === "⚑ too fast")?.title).toContain("came sooner");
  });

  it("sends a message under one key, however often it has to be tried", async () => {
    await open(at, { [`dialogs/${data.live.id}/message`]: new Refusal(503, "Please try again.", "try_again") });
    await press("act-tell");
    await write("tell-text", "Hello");
    await press("ask-submit");
    expect(text("problem")).toBe("Please try again.");
    await press("ask-submit");
    expect(sent).toHaveLength(2);
    expect(sent[0]?.body).toEqual(sent[1]?.body);
    expect(sent[0]?.body.key).toMatch(/^[A-Za-z0-9_-]{8,64}$/);
  });

  it("says when the hit manager has to carry it out", async () => {
    await open(`/monitor/workers/${data.A}`, { [`workers/${data.A}/bonus`]: { request: "r-1" } });
    await press("act-bonus");
    await write("bonus-amount", "0.50");
    await write("bonus-reason", "Thank you");
    await press("ask-submit");
    expect(last()?.body).toMatchObject({ cents: 50, reason: "Thank you" });
    expect(text("toasts")).toContain("The recruiter is asked");
  });
});

describe("the review queue", () => {
  it("accepts by one key, with the pay approved, and goes on to the next", async () => {
    await open("/monitor/review?flag=too_fast");
    await key("a");
    expect(last()).toEqual({
      path: `review/${data.complete.id}`,
      body: {
        verdict: "accepted",
        reason: "",
        pay: [
          { arrival_id: "aq", approve: true, reason: "" },
          { arrival_id: "aa", approve: true, reason: "" },
        ],
      },
    });
    expect(sent.filter(({ path }) => path === "review/next?flag=too_fast")).toHaveLength(2);
    expect(document.activeElement?.id).toBe("in-hand");
  });

  it("asks for the reason of a rejection, and does not judge before", async () => {
    await open("/monitor/review");
    await key("r");
    expect(find("reject-ask")).not.toBeNull();
    await press("ask-submit");
    expect(sent.filter(({ path }) => path.startsWith("review/d"))).toHaveLength(0);
    await write("reject-reason", "No sentences");
    await press("ask-submit");
    expect(last()?.body).toMatchObject({ verdict: "rejected", reason: "No sentences" });
    expect(find("reject-ask")).toBeNull();
  });

  it("refuses pay only with a written reason", async () => {
    await open("/monitor/review");
    await key("P");
    expect(document.activeElement).toBe(find("refusal-answerer"));
    await key("a");
    expect(text("problem")).toContain("answerer’s pay is refused");
    expect(last()).toBeUndefined();
    await write("refusal-answerer", "Copied");
    // A key that is written is no decision.
    await key("a", find("refusal-answerer")!);
    expect(last()).toBeUndefined();
    await key("a");
    expect(last()?.body).toMatchObject({ pay: [{ approve: true }, { approve: false, reason: "Copied" }] });
  });

  it.each([
    [[], "Accepted."],
    [[{ state: "approved", moved: true }], "Accepted."],
    [[{ state: "cancelled", moved: false }], "Accepted."],
    [[{ state: "cancelled", moved: true }], "Accepted. $1.20 is refused."],
  ])("says what was decided on the pay, not what was asked: %j", async (pay, said) => {
    const settled = pay.map((each) => ({ arrival_id: "aa", reason: "dialog", cents: 120, ...each }));
    await open("/monitor/review", { "review/*": { decides: true, pay: settled } });
    await key("P");
    await write("refusal-answerer", "Copied");
    await key("a");
    expect(text("toasts")).toBe(`${said}×`);
  });

  it("gives no verdict on what is not complete, and says how it is settled", async () => {
    await open("/monitor/review", { "review/next": { dialog: data.abandoned, until: null, second: false, waiting: 1 } });
    await key("a");
    expect(text("problem")).toContain("not complete");
    await key(" ");
    expect(last()).toMatchObject({ path: `review/${data.abandoned.id}`, body: { verdict: null } });
  });

  it("judges once, also when a key is pressed twice before the answer", async () => {
    await open("/monitor/review");
    await act(() => {
      for (const name of ["a", "a"]) document.body.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
    });
    await settle();
    expect(sent.filter(({ path }) => path.startsWith("review/d"))).toHaveLength(1);
  });

  it("skips, takes back, moves through the rounds and shows its keys", async () => {
    await open("/monitor/review");
    await key("j");
    await key("j");
    expect([...document.querySelectorAll(".said-now")].map((each) => each.textContent)).toHaveLength(2);
    expect(document.querySelector(".said-now")?.textContent).toContain("Round 2");
    await key("s");
    expect(last()?.path).toBe(`review/${data.complete.id}/skip`);
    await key("u");
    expect(last()?.path).toBe("review/undo");
    await key("?");
    expect(text("keys")).toContain("Accept it as data");
  });

  it("does in bulk what was counted before, and no more", async () => {
    await open("/monitor/review?outcome=complete");
    await press("bulk");
    expect(last()?.body).toMatchObject({ dry_run: true, outcome: "complete", unflagged: true });
    expect(text("ask-submit")).toBe("Accept 23 dialogs, approve $69.00");
    await press("ask-submit");
    expect(last()?.body).toMatchObject({ dry_run: false, expected: 23, verdict: "accepted", approve_pay: true });
    expect(last()?.body.key).toMatch(/^[A-Za-z0-9_-]{8,64}$/);
  });

  it("counts anew what has become another number, and asks again", async () => {
    const counts = [23, 22];
    const bulk = () => ({ dialogs: counts[0], payments: 46, cents: 6_900 });
    const answers: Record<string, unknown> = { "review/bulk": bulk };
    await open("/monitor/review", answers);
    await press("bulk");
    expect(text("bulk-count")).toContain("23 dialogs");
    answers["review/bulk"] = new Refusal(409, "It would be 22 dialogs now, not 23; look again.", "conflict");
    await act(() => void find("ask-submit")?.click());
    counts.shift();
    answers["review/bulk"] = bulk;
    await settle();
    expect(text("bulk-count")).toContain("22 dialogs");
    expect(text("problem")).toContain("not 23");
    await press("ask-submit");
    expect(last()?.body).toMatchObject({ dry_run: false, expected: 22 });
  });

  it("shows a flag as soon as it is raised, and keeps what was decided on the pay", async () => {
    const { complete } = data;
    const answers: Record<string, unknown> = { [`dialogs/${complete.id}`]: complete };
    await open("/monitor/review", answers);
    await key("p");
    const finding = { number: 99, flag: "by_team", role: null, round: null, seq: null, reason: "Rather odd.", by: "Jonas" };
    answers[`dialogs/${complete.id}`] = { ...complete, judgements: [], findings: [...complete.findings, finding] };
    await key("f");
    await write("flag-reason", "Rather odd.");
    await press("ask-submit");
    expect(root.textContent).toContain("Rather odd.");
    expect(document.querySelectorAll("[id^=refusal-]")).toHaveLength(1);
  });

  it("takes back what was judged last by its name", async () => {
    await open("/monitor/review");
    await key("a");
    await key("u");
    expect(last()).toMatchObject({ path: "review/undo", body: { dialog_id: data.complete.id } });
    const before = sent.length;
    await key("u");
    expect(text("problem")).toContain("Nothing is left to undo here");
    expect(sent.length).toBe(before);
  });

  it("takes back an older judgement on the page of its dialog, and says why not", async () => {
    const answers: Record<string, unknown> = { "dialogs/*": data.judged };
    await open(`/monitor/dialogs/${data.judged.id}`, answers);
    await press("take-back");
    answers["review/undo"] = new Refusal(409, "Pay that was approved with it is on its way.", "conflict");
    await press("ask-submit");
    expect(last()).toMatchObject({ path: "review/undo", body: { dialog_id: data.judged.id } });
    expect(text("problem")).toBe("Pay that was approved with it is on its way.");
  });

  it("asks for dialogs with one flag, or without any", async () => {
    const router = await open("/monitor/review?flag=gone_since");
    const select = () => find("filter-flag") as HTMLSelectElement;
    expect([...select().options].map((each) => each.text).slice(0, 4)).toEqual(["All", "None", "short answers (31)", "too fast (17)"]);
    // What stands in the address is shown, also when nobody knows it.
    expect(select().value).toBe("gone_since");
    const choose = async (value: string) => {
      await act(() => {
        select().value = value;
        select().dispatchEvent(new Event("change", { bubbles: true }));
      });
      await settle();
    };
    await choose(" ");
    expect(router.at.value).toBe("/monitor/review?unflagged=true");
    expect(sent.at(-1)?.path).toBe("review/next?unflagged=true");
    expect(select().value).toBe(" ");
    await choose("too_fast");
    expect(router.at.value).toBe("/monitor/review?flag=too_fast");
    expect(text("flag-means")).toContain("A message came sooner");
    expect(select().getAttribute("aria-describedby")).toBe(find("flag-means")?.id);
  });

  it("says beside the verdict what is paid, for who cannot see the pay itself", async () => {
    await open("/monitor/review");
    const bar = find("decide-bar");
    expect(bar?.contains(find("accept"))).toBe(true);
    expect(bar?.textContent).toContain("$3.00 will be paid");
    await press("pay-answerer-toggle");
    expect(bar?.textContent).toContain("$1.50 will be paid, $1.50 will be refused");
    // What is in the way is said where it was pressed.
    await press("accept");
    expect(bar?.contains(find("problem"))).toBe(true);
  });

  it("shows a viewer how it goes, and gives them nothing to judge", async () => {
    await open("/monitor/review", as("viewer"));
    expect(find("stats")).not.toBeNull();
    expect(sent).toHaveLength(0);
  });
});

describe("lists, money and the study", () => {
  it("keeps filters and pages in the address", async () => {
    const router = await open("/monitor/dialogs?phase=solo&after=c9");
    const select = find("filter-outcome") as HTMLSelectElement;
    await act(() => {
      select.value = "complete";
      select.dispatchEvent(new Event("change", { bubbles: true }));
    });
    expect(router.at.value).toBe("/monitor/dialogs?phase=solo&outcome=complete");
    expect(find("page-next")?.getAttribute("href")).toBe("/monitor/dialogs?phase=solo&outcome=complete&after=c2");
  });

  it("approves what was chosen, after naming the sum", async () => {
    await open("/monitor/money", as("reviewer"));
    const boxes = () => document.querySelectorAll<HTMLInputElement>("[data-testid=payments-table] input");
    expect(boxes()).toHaveLength(2);
    for (const n of [0, 1]) await act(() => boxes()[n]?.click());
    await press("approve");
    expect(text("ask-submit")).toBe("Approve $1.70");
    await press("ask-submit");
    expect(last()).toEqual({
      path: "ledger/approve",
      body: { payments: [{ arrival_id: "a30", reason: "dialog" }, { arrival_id: "a31", reason: "waiting" }] },
    });
  });

  it("changes the study by what the fields hold, and names each change before", async () => {
    await open("/monitor/study");
    await write("limit-pay_complete", "1.80");
    await write("limit-turn_limit_s", "");
    await press("limits-review");
    expect(text("change-ask")).toContain("Pay for a complete dialog: $1.50 → $1.80");
    expect(text("change-ask")).toContain("Time for a message: 4 min → 3 min");
    await write("change-reason", "Slow phones");
    await press("ask-submit");
    expect(last()).toEqual({ path: "study/change", body: { changes: { pay_complete: 180 }, known: { turn_limit_s: 240 }, reason: "Slow phones" } });
  });

  it("keeps what was written when somebody else changes the study, and says so", async () => {
    const other = { ...data.study, changes: { grace_s: 90 } };
    let asked = 0;
    await open("/monitor/study", { study: () => (asked++ === 0 ? data.study : other) });
    expect((find("limit-turn_limit_s") as HTMLInputElement).value).toBe("240");
    await write("limit-pay_complete", "1.80");
    await press("pause");
    await press("ask-submit");
    expect(find("overtaken")).not.toBeNull();
    expect((find("limit-pay_complete") as HTMLInputElement).value).toBe("1.80");
    await press("limits-review");
    await write("change-reason", "Slow phones");
    await press("ask-submit");
    expect(last()?.body).toMatchObject({ known: { turn_limit_s: 240 } });
    await press("limits-again");
    expect(find("overtaken")).toBeNull();
    expect((find("limit-pay_complete") as HTMLInputElement).value).toBe("");
    expect((find("limit-grace_s") as HTMLInputElement).value).toBe("90");
  });

  it("leads from a payment to its dialog and to its worker", async () => {
    await open("/monitor/money");
    const links = [...(document.querySelector("[data-testid=payments-table] tbody tr")?.querySelectorAll("a") ?? [])];
    expect(links.map((a) => a.getAttribute("href")?.split("/").slice(0, 3).join("/"))).toEqual(["/monitor/workers", "/monitor/dialogs"]);
  });

  it("tries a request again that failed, as it was seen, or dismisses it", async () => {
    await open("/monitor/money?request_state=failed");
    expect(root.querySelector("section")?.getAttribute("data-testid")).toBe("requests");
    expect(document.querySelectorAll("[data-testid=request-again]")).toHaveLength(1);
    const failed = data.requests.rows.find(({ state }) => state === "failed")!;
    await press("request-again");
    expect(text("failed-ask")).toContain("may have been sent");
    await press("ask-submit");
    expect(last()).toEqual({ path: "requests/r-77aa/again", body: { failed_at: failed.done_at } });
    await press("request-dismiss");
    await press("ask-submit");
    expect(last()).toEqual({ path: "requests/r-77aa/dismiss", body: { failed_at: failed.done_at } });
  });

  it("offers nothing about a failed request to whoever may not ask for it", async () => {
    const bonus = { ...data.requests, rows: data.requests.rows.map((row) => ({ ...row, needs: "owner" as const })) };
    await open("/monitor/money", { ...as("reviewer"), requests: bonus });
    expect(find("requests-table")).not.toBeNull();
    expect(find("request-again")).toBeNull();
  });

  it("adds up what was judged", async () => {
    await open("/monitor/review", { "review/stats": { ...data.stats, judged: 14, accepted: 12, rejected: 1 } });
    expect(text("stats")).toContain("14 12 accepted, 1 rejected, 1 only pay settled");
  });

  it("names the study to whoever signs in", async () => {
    await open("/sign-in", { me: new Refusal(401, "Please sign in.", "signed_out") });
    expect(root.textContent).toContain("For the team that runs “Talk about a picture”.");
  });

  it("says on the closed menu how much waits for review", async () => {
    await open("/monitor");
    expect(text("menu")).toBe("Menu 12 to review");
    await press("menu");
    expect(text("menu")).toBe("Menu");
  });

  it("says beside an item's number what it is about", async () => {
    await open("/monitor/money");
    expect(text("chains")).toContain("COCO_000000113 A brown dog stands in front of a small red house.");
  });

  it("shows what the server says against a change in the words of the form, and keeps what was written", async () => {
    const refusal = "pay.left must not be more than pay.complete; changes.grace_s: is no number; lobby.start_s stands in the file.";
    await open("/monitor/study", { "study/change": new Refusal(400, refusal, "bad_request") });
    await write("limit-pay_left", "9.00");
    await press("limits-review");
    await write("change-reason", "Try");
    await press("ask-submit");
    expect(text("problem")).toBe(
      "“Pay for whoever leaves” must not be more than “Pay for a complete dialog”; “Grace after a lost connection”: is no number; lobby.start_s stands in the file.",
    );
    expect((find("limit-pay_left") as HTMLInputElement).value).toBe("9.00");
  });

  it("lets only an owner pause, and says before what that does", async () => {
    await open("/monitor/study", as("reviewer"));
    expect(find("pause")).toBeNull();
    await act(() => render(null, root));
    await open("/monitor/study");
    await press("pause");
    expect(text("status-ask")).toContain("Nobody new is let in");
    await press("ask-submit");
    expect(last()?.path).toBe("study/pause");
  });
});
