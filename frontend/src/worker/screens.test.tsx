import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { live, NOW, studyOf, UNPAID } from "../gallery/fixtures";
import type { StudyOut } from "../generated/wire";
import { localeFor } from "../texts";
import { ActionsContext, LocaleContext, StudyContext, TimeContext } from "./context";
import type { Actions } from "./live";
import { LiveView } from "./LiveView";
import { Onboarding } from "./Onboarding";
import type { Model } from "./machine/model";

const accepted = () => Promise.resolve({ ok: true, value: null } as const);

function fakeActions() {
  return {
    ready: vi.fn(accepted),
    start: vi.fn(accepted),
    decline: vi.fn(accepted),
    leave: vi.fn(accepted),
    stopWaiting: vi.fn(accepted),
    pairAgain: vi.fn(accepted),
    finish: vi.fn(accepted),
    report: vi.fn(accepted),
    typed: vi.fn(),
    submit: vi.fn(),
    retry: vi.fn(),
    continueHere: vi.fn(),
  } satisfies Actions;
}

let root: HTMLElement;
let actions: ReturnType<typeof fakeActions>;

beforeEach(() => {
  actions = fakeActions();
  root = document.createElement("div");
  document.body.append(root);
});
afterEach(() => {
  render(null, root);
  root.remove();
});

/** A model shows itself in a plain link's study, a screen by its name in its own. */
function show(what: Model | string | undefined, lang = "en", terms: Partial<StudyOut> = {}): void {
  const model = typeof what === "string" ? screen(what, lang) : what;
  if (model === undefined) throw new Error("no such screen");
  const study = { ...studyOf(typeof what === "string" ? what : ""), ...terms };
  act(() =>
    render(
      <LocaleContext.Provider value={localeFor(lang)}>
        <StudyContext.Provider value={study}>
          <TimeContext.Provider value={() => NOW}>
            <ActionsContext.Provider value={actions}>
              <LiveView model={model} onAnother={accepted} />
            </ActionsContext.Provider>
          </TimeContext.Provider>
        </StudyContext.Provider>
      </LocaleContext.Provider>,
      root,
    ),
  );
}

const screen = (name: string, lang = "en") => live[name]?.(lang);
const find = (testid: string) => root.querySelector<HTMLElement>(`[data-testid="${testid}"]`);
const text = (testid: string) => find(testid)?.textContent ?? "";
const press = async (testid: string) => act(async () => find(testid)?.click());

describe("every screen", () => {
  it.each(Object.keys(live))("%s says what it is, in both languages", (name) => {
    for (const lang of ["en", "ar"]) {
      show(name, lang);
      expect(root.querySelectorAll("h1")).toHaveLength(1);
      expect(root.querySelectorAll("main")).toHaveLength(1);
      expect(root.innerHTML).not.toMatch(/undefined|\[object|NaN/);
      expect(root.querySelector("[style]"), "an inline style would need a looser policy").toBeNull();
    }
  });

  it.each(["arrived", "waiting", "ask", "solo-ask"])("%s has both ways out in reach", (name) => {
    show(screen(name));
    expect(find("report")).not.toBeNull();
    expect(find("leave")).not.toBeNull();
  });
});

/** What speaks of money. The recruiters' own last steps are only ever shown where there is some. */
const MONEY = /\b(pays?|paid|earn|owed?)\b|[$¢]|أجر|تُدفع|يُدفع|مدفوع|US/;

/** The model as a server would send it in a study that pays nothing. */
function unpaid(model: Model): Model {
  const { state } = model;
  if (state === null) return model;
  const { dialog, lobby, released } = state;
  return {
    ...model,
    state: {
      ...state,
      dialog: dialog ? { ...dialog, pays: 0 } : null,
      lobby: lobby ? { ...lobby, stop_pays: 0 } : null,
      released: released ? { ...released, cents: 0 } : null,
    },
  };
}

describe("a study that pays nothing", () => {
  const names = Object.keys(live).filter((name) => !/-(mturk|prolific)$/.test(name));

  it.each(names)("has not a word of money on %s, in any language", async (name) => {
    for (const lang of ["en", "ar"]) {
      show(unpaid(screen(name, lang)!), lang, UNPAID);
      expect(root.textContent).not.toMatch(MONEY);
      for (const [button, modal] of [["leave", "leave-dialog"], ["report", "report-dialog"]] as const) {
        if (find(button) === null) continue;
        await press(button);
        expect(find(modal)?.textContent).not.toMatch(MONEY);
        await press(find("leave-cancel") === null ? "report-cancel" : "leave-cancel");
      }
    }
  });

  it.each(["preview", "consent", "instructions"] as const)("nor on the way in, at %s", (first) => {
    for (const lang of ["en", "ar"]) {
      act(() =>
        render(
          <LocaleContext.Provider value={localeFor(lang)}>
            <StudyContext.Provider value={{ ...studyOf(""), ...UNPAID }}>
              <Onboarding study={{ ...studyOf(""), ...UNPAID }} first={first} arrive={accepted} />
            </StudyContext.Provider>
          </LocaleContext.Provider>,
          root,
        ),
      );
      expect(find(`screen-${first}`)).not.toBeNull();
      expect(root.textContent).not.toMatch(MONEY);
    }
  });

  it("gives a completion code for a dialog that is done", () => {
    show("completed-unpaid-study");
    expect(text("code")).toBe("DUO-7F3K-92QM");
    expect(root.textContent).toContain("Your completion code");
    expect(root.querySelector(".seal-good")).not.toBeNull();
  });
});

describe("a study that does not pay for waiting", () => {
  it("says so, and what it pays all the same", () => {
    const terms = { waiting_per_minute: 0 };
    show("waiting", "en", terms);
    expect(text("if-nobody")).toContain("Waiting alone is not paid");
    show("waiting-paused", "en", terms);
    expect(text("paused")).not.toContain("time counts");
    show("ask", "en", terms);
    expect(text("pays")).toContain("$1.50");
  });
});

describe("the box", () => {
  const key = (init: KeyboardEventInit) =>
    act(() => {
      const event = new KeyboardEvent("keydown", { bubbles: true, cancelable: true, ...init });
      find("box")?.dispatchEvent(event);
    });

  it("sends on Enter, but not while a character is being composed", () => {
    show(screen("ask"));
    key({ key: "Enter", isComposing: true });
    expect(actions.submit).not.toHaveBeenCalled();
    key({ key: "Enter" });
    expect(actions.submit).toHaveBeenCalledOnce();
  });

  it("keeps the text out of turn, and says why", () => {
    const waiting = screen("ask-waiting");
    show(waiting && { ...waiting, draft: { ...waiting.draft, text: "And is it night?" } });
    key({ key: "Enter" });
    expect(actions.submit).not.toHaveBeenCalled();
    expect(text("refusal")).toContain("partner's turn");
  });

  it("says how much is too much, and does not send it", () => {
    show(screen("answer-long"));
    expect(text("count")).toContain("519/500");
    expect(text("refusal")).toContain("19 too many");
    key({ key: "Enter" });
    expect(actions.submit).not.toHaveBeenCalled();
  });

  it("shows what people write as text, whatever it looks like", () => {
    const model = screen("ask");
    const dialog = model?.state?.dialog;
    if (!model?.state || !dialog) throw new Error("no dialog");
    const evil = { ...dialog.messages[0]!, parts: [{ text: "<img src=x onerror=alert(1)>" }] };
    show({ ...model, state: { ...model.state, dialog: { ...dialog, messages: [evil] } } });
    expect(text("message")).toContain("<img src=x");
    expect(root.querySelector("img")).toBeNull();
  });
});

describe("leaving", () => {
  it.each([
    ["waiting", "Nothing has begun yet"],
    ["ask", "give up the $1.50"],
    ["solo-ask", "Only 5 messages to go"],
  ])("asks once on %s and says what it means for the pay", async (name, meaning) => {
    show(screen(name));
    await press("leave");
    expect(actions.leave).not.toHaveBeenCalled();
    expect(text("leave-meaning")).toContain(meaning);
    await press("leave-confirm");
    expect(actions.leave).toHaveBeenCalledOnce();
    expect(find("leave-dialog")).toBeNull();
  });

  it.each(["ask-all-sent", "ask-all-sent-mturk"])("is not offered on %s, only explained", async (name) => {
    show(name);
    await press("leave");
    expect(text("leave-meaning")).toContain("do not close the page");
    expect(find("leave-confirm")).toBeNull();
    await press("leave-cancel");
    expect(find("leave-dialog")).toBeNull();
  });

  it("stays possible when the server refuses, and shows its reason", async () => {
    actions.leave.mockResolvedValueOnce({ ok: false, refused: { code: "all_sent", error: "All sent." } } as never);
    show(screen("ask"));
    await press("leave");
    await press("leave-confirm");
    expect(text("problem")).toContain("All sent.");
  });
});

describe("a partner who leaves early", () => {
  it.each([
    ["solo-early", {}, ["only just begun", "new dialog pays $1.50", "in this one is then not paid", "$0.10 for every minute", "up to $1.50"]],
    ["solo-again", {}, ["in this one is then not paid", "$0.10 for every minute"]],
    ["solo-again", { waiting_per_minute: 0 }, ["new dialog pays $1.50", "nothing is paid"]],
    ["solo-again", UNPAID, ["stays unfinished"]],
  ])("says on %s what a new one pays, with %o", (name, terms, words) => {
    show(name, "en", terms);
    for (const each of words) expect(text("pair-again-pays")).toContain(each);
    if (name !== "solo-early") expect(text("solo-note")).not.toContain("only just begun");
  });
});

describe("the lobby", () => {
  it("promises no more for waiting than a dialog pays", () => {
    show("waiting", "en", { pays: 70 });
    expect(text("if-nobody")).toContain("$0.70");
  });

  it("offers the choice only after the limit", async () => {
    show(screen("waiting"));
    expect(find("stop-waiting")).toBeNull();
    expect(text("if-nobody")).toContain("$1.00");
    show(screen("waiting-choice"));
    expect(text("stop-waiting")).toContain("$1.10");
    await press("wait-on");
    expect(find("wait-on")).toBeNull();
    await press("stop-waiting");
    expect(actions.stopWaiting).toHaveBeenCalledOnce();
  });

  it("lets a match be declined without leaving the work", async () => {
    show(screen("matched"));
    expect(find("leave")).toBeNull();
    await press("not-now");
    expect(actions.decline).toHaveBeenCalledOnce();
    expect(actions.leave).not.toHaveBeenCalled();
  });
});

describe("a match", () => {
  it("keeps its buttons where they are when start is pressed, so that a second press is harmless", async () => {
    show("matched");
    const places = () => [...root.querySelectorAll(".stack > *")].map((place) => (place as HTMLElement).dataset["testid"]);
    const before = places();
    find("start")?.focus();
    await press("start");
    await vi.waitFor(() => expect(find("start")?.getAttribute("aria-disabled")).toBe("true"));
    expect(places()).toEqual(before);
    expect(text("start")).toContain("Waiting for your partner");
    expect(text("match-line")).toContain("You are ready");
    expect(document.activeElement).toBe(find("start"));
    await press("start");
    expect(actions.start).toHaveBeenCalledOnce();
  });

  it("shows what went wrong below the buttons, which it must not move", async () => {
    actions.start.mockResolvedValueOnce({ ok: false, refused: null } as never);
    show("matched");
    await press("start");
    await vi.waitFor(() => expect(find("problem")).not.toBeNull());
    const order = find("not-now")!.compareDocumentPosition(find("problem")!);
    expect(order & Node.DOCUMENT_POSITION_FOLLOWING).toBeTruthy();
  });

  it("that came to nothing is explained to both", () => {
    show("waiting-again");
    expect(text("partner-did-not-start")).toContain("keep your place");
    show("arrived-declined");
    expect(text("declined")).toContain("You pressed Not now");
    show("waiting");
    expect(find("partner-did-not-start")).toBeNull();
    show("arrived-missed");
    expect(find("declined")).toBeNull();
  });
});

describe("the focus", () => {
  it.each([
    ["completed", "finish", "finished"],
  ])("on %s goes to what follows when the button goes away", async (name, button, heir) => {
    show(screen(name));
    find(button)?.focus();
    await press(button);
    await vi.waitFor(() => expect(find(button)).toBeNull());
    expect(find(heir)?.contains(document.activeElement)).toBe(true);
  });
});

describe("a page that cannot go on", () => {
  const stopped = (code: "bad_token" | "cap_reached") => {
    const model = screen("bad-token");
    return model && { ...model, stopped: { code, error: "So it is." } };
  };

  it("says whom to write to", () => {
    show(stopped("bad_token"));
    expect(text("page-contact")).toBe("picture-study@example.org");
  });

  it("offers to load it again only where that can help", () => {
    show(stopped("bad_token"));
    expect(find("reload")).not.toBeNull();
    show(stopped("cap_reached"));
    expect(text("stopped-reason")).toBe("So it is.");
    expect(find("reload")).toBeNull();
  });
});

describe("the end", () => {
  it("hands in by the recruiter's form, as often as wanted", async () => {
    show("completed-mturk");
    const form = find("submit-form") as HTMLFormElement;
    const handIn = vi.spyOn(form, "submit").mockImplementation(() => undefined);
    expect(form.querySelector("input")?.value).toBe("A1");
    await press("finish");
    await vi.waitFor(() => expect(find("finish")?.getAttribute("aria-busy")).toBe("false"));
    await press("finish");
    await vi.waitFor(() => expect(handIn).toHaveBeenCalledTimes(2));
    expect(actions.finish).toHaveBeenCalled();
  });

  it.each(["en", "ar"])("puts handing in first, with no code beside it, in %s", (lang) => {
    show("completed-mturk", lang);
    const button = find("finish")!;
    expect(root.querySelector("h1")?.textContent).toBe(localeFor(lang).t.end.lastStep.handIn);
    expect(text("hand-in")).toContain("1.50");
    const order = button.compareDocumentPosition(find("release")!);
    expect(order & Node.DOCUMENT_POSITION_FOLLOWING).toBeTruthy();
    expect(find("code")).toBeNull();
    expect(text("release")).not.toBe("");
  });

  it("warns of returning work that is done", () => {
    show("completed-mturk");
    expect(text("hand-in")).toContain("work that is returned is not paid");
    show(screen("completed"));
    expect(find("hand-in")).toBeNull();
  });

  it.each(["completed-mturk", "completed-prolific"])("takes the feedback along on %s, and asks before it", async (name) => {
    show(name);
    vi.spyOn(find("submit-form") as HTMLFormElement, "submit").mockImplementation(() => undefined);
    const box = find("feedback") as HTMLTextAreaElement;
    const order = box.compareDocumentPosition(find("finish")!);
    expect(order & Node.DOCUMENT_POSITION_FOLLOWING).toBeTruthy();
    expect(root.textContent).toContain("sent with the button below");
    box.value = "Nice";
    act(() => void box.dispatchEvent(new Event("input", { bubbles: true })));
    expect(find("send-feedback")).toBeNull();
    await press("finish");
    expect(actions.finish).toHaveBeenCalledWith("Nice");
  });

  it.each([
    ["completed-mturk", ["$1.50 once it is handed in"], /team|bonus/],
    ["completed-in-parts-mturk", ["$1.50 once it is handed in", "$0.10 of the pay is the reward", "$1.40 comes as a bonus"], /team/],
    [
      "completed-by-hand-mturk",
      ["$1.50 when it is handed in and the team has looked at it", "$0.10 of the pay", "$1.40 comes as a bonus", "longer than 7 days"],
      /once it is handed in/,
    ],
    ["completed-by-hand-whole-mturk", ["$1.50 when it is handed in and the team has looked", "7 days at the most"], /bonus|once it/],
    ["completed-by-hand-prolific", ["The team looks at your work first"], /bonus/],
  ])("says on %s when the pay comes, and how", (name, words, not) => {
    show(name);
    const said = () => `${text("hand-in")} ${text("how-paid")}`;
    for (const each of words) expect(said()).toContain(each);
    expect(said()).not.toMatch(not);
    show(name, "ar");
    expect(text("hand-in")).toContain("1.50");
  });

  it("says who pays where a link has led here, and whom to ask", () => {
    show("completed");
    expect(text("paid-by-team")).toContain("pays you itself");
    expect(text("paid-by-team")).toContain("picture-study@example.org");
    show("completed", "en", { contact: "" });
    expect(text("paid-by-team")).not.toContain("Whom to ask");
    for (const name of ["left", "completed-unpaid-study", "completed-mturk"]) {
      show(name);
      expect(find("paid-by-team"), name).toBeNull();
    }
  });

  it.each(["returned-mturk", "left-mturk"])("on %s asks to return the work, and for nothing else", async (name) => {
    for (const lang of ["en", "ar"]) {
      show(name, lang);
      expect(text("give-back")).toContain("Return");
      for (const testid of ["code", "finish", "finished", "another", "amount"]) {
        expect(find(testid), testid).toBeNull();
      }
    }
    const box = find("feedback") as HTMLTextAreaElement;
    box.value = "Too long";
    act(() => void box.dispatchEvent(new Event("input", { bubbles: true })));
    await press("send-feedback");
    expect(actions.finish).toHaveBeenCalledWith("Too long");
    await vi.waitFor(() => expect(find("feedback")).toBeNull());
    expect(find("finished")).toBeNull();
    expect(find("give-back")).not.toBeNull();
  });

  it("has the share of who left handed in", () => {
    show("left-paid-mturk");
    expect(find("give-back")).toBeNull();
    expect(text("hand-in")).toContain("$0.30");
    expect(find("finish")).not.toBeNull();
  });

  it.each([
    ["completed-prolific", "Do not return your submission"],
    ["never-paired-prolific", "paid all the same"],
    ["left-prolific", "Nothing is paid"],
  ])("on %s leads back to Prolific, and says what to do there", (name, words) => {
    show(name);
    expect(root.querySelector("h1")?.textContent).toContain("back to Prolific");
    expect(text("hand-in")).toContain(words);
    expect(text("finish")).toBe("Back to Prolific");
    expect(find("code")).toBeNull();
  });

  it("gives nothing back where a link has led here", () => {
    show("returned");
    expect(root.textContent).not.toMatch(/handed|Return/);
    expect(find("give-back")).toBeNull();
    expect(find("another")).not.toBeNull();
  });

  it("does not say that somebody is paid who is not", () => {
    show(screen("left"));
    expect(root.querySelector(".receipt")?.textContent).not.toMatch(/are paid|completion code/);
    expect(find("code")).not.toBeNull();
  });

  it("shows the code, the amount and what was sent", async () => {
    show(screen("completed"));
    expect(text("code")).toBe("DUO-7F3K-92QM");
    expect(text("amount")).toBe("$1.50");
    await press("finish");
    await vi.waitFor(() => expect(find("finished")).not.toBeNull());
  });

  it("has the whole conversation, and what it was about", () => {
    show(screen("completed"));
    expect(root.querySelectorAll("[data-testid=transcript] li")).toHaveLength(20);
    expect(text("transcript")).toContain("A dog in front of a red house");
    show(screen("left"));
    expect(find("transcript")).toBeNull();
  });

  it.each([
    ["left", "You left before", "away"],
    ["left-away", "away for too long", "You left before"],
    ["never-paired", "waiting is paid", "left"],
    ["never-paired-unpaid", "not your fault", "paid"],
  ])("says on %s what happened and nothing else", (name, words, not) => {
    show(screen(name));
    expect(text("release")).toContain(words);
    expect(text("release")).not.toContain(not);
  });

  it.each(["left", "never-paired-unpaid", "completed-another"])(
    "says on %s what another dialog pays, whatever this one paid",
    (name) => {
      for (const lang of ["en", "ar"]) {
        show(screen(name, lang), lang);
        expect(find("another")?.parentElement?.textContent).toContain("1.50");
      }
    },
  );

  it("does not offer another dialog unless there is one", () => {
    show(screen("completed"));
    expect(find("another")).toBeNull();
    show(screen("completed-another"));
    expect(find("another")).not.toBeNull();
  });
});

describe("the line that says what to do", () => {
  it.each([
    ["ask-first", "ask your first question"],
    ["ask", "ask question 4"],
    ["ask-waiting", "Wait for your partner's answer"],
    ["answer", "answer question 3"],
    ["answer-first", "Wait for your partner's question"],
    ["solo-ask", "5 of 10 left"],
    ["solo-ask", "another question"],
    ["solo-ask-first", "Write a question"],
    ["solo-answer", "6 of 10 left"],
    ["solo-answer", "another thing"],
    ["solo-answer-open", "still answer question 4"],
    ["solo-early", "Write a thing you see"],
    ["sending", "on its way"],
    ["ask-all-sent", "paid in full"],
  ])("is right on %s", (name, words) => {
    show(screen(name));
    expect(text("now-line")).toContain(words);
  });

  it.each([
    ["ask-all-sent", "your completion code comes"],
    ["ask-all-sent-mturk", "the button that hands your work in"],
    ["ask-all-sent-prolific", "the button that takes you back to Prolific"],
  ])("on %s says what is still to come, and for how long to wait", (name, words) => {
    show(name);
    expect(text("now-line")).toContain("do not close the page");
    expect(text("now-line")).toContain(words);
    expect(text("last-answer")).toContain("2:30 left");
    expect(text("last-answer")).toContain("go on to the last step without it");
  });

  it("tells nobody who has sent everything to finish alone", () => {
    show("ask-all-sent-away");
    expect(text("partner-away")).toContain("go on to the last step");
    expect(root.textContent).not.toContain("finish alone");
  });

  it("prompts for the answer while a question is open, and for facts after it", () => {
    const prompt = () => (find("box") as HTMLTextAreaElement).placeholder;
    show(screen("solo-answer-open"));
    expect(prompt()).toContain("Answer");
    show(screen("solo-answer"));
    expect(prompt()).toContain("can be seen");
  });

  it("says beside the pay that it does not hang on the partner, on a phone too", () => {
    show(screen("ask"));
    expect(find("pays")?.querySelector(".wide-only")).toBeNull();
    expect(text("pays")).toContain("even if your partner leaves");
  });

  it("never contradicts what the partner is seen to do", () => {
    for (const name of ["ask-waiting", "answer-first"]) {
      const model = screen(name);
      show(model && { ...model, typingUntil: NOW + 5 });
      expect(text("partner-typing")).toContain("is writing");
      expect(text("now-line")).not.toMatch(/is (thinking|answering|writing)/);
    }
    const away = screen("away");
    show(away && { ...away, typingUntil: NOW + 5 });
    expect(find("partner-away")).not.toBeNull();
    expect(find("partner-typing")).toBeNull();
  });

  it("comes with a clock only in the last minute of a turn", () => {
    show(screen("answer"));
    expect(find("turn-countdown")).toBeNull();
    show(screen("turn-ends"));
    expect(text("turn-countdown")).toContain("0:42");
    expect(find("turn-countdown")?.querySelector("[role=alert]")?.textContent).toContain("Less than");
  });
});
