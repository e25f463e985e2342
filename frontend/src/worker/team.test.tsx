import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { live as screens, NOW, studyOf } from "../gallery/fixtures";
import type { State } from "../generated/wire";
import { localeFor } from "../texts";
import type { Connection } from "./connection";
import { ActionsContext, LocaleContext, StudyContext, TimeContext } from "./context";
import { Live } from "./live";
import { LiveView } from "./LiveView";
import * as sound from "./sound";
import { DraftShelf } from "./storage";

type Tell = Parameters<ConstructorParameters<typeof Live>[3] & object>[1];

let root: HTMLElement;
let live: Live;
let tell: Tell;
let looks = true;

beforeEach(() => {
  localStorage.clear();
  looks = true;
  vi.spyOn(document, "hidden", "get").mockImplementation(() => !looks);
  vi.spyOn(sound, "play").mockImplementation(() => undefined);
  const connection = { typing: vi.fn(), close: vi.fn() } as unknown as Connection;
  live = new Live("token", { turn_limit_s: 180 }, new DraftShelf(""), (_, told) => {
    tell = told;
    return connection;
  });
  root = document.createElement("div");
  document.body.append(root);
});
afterEach(() => {
  render(null, root);
  root.remove();
  live.close();
  vi.restoreAllMocks();
});

/** Shows the live page in its state after what has happened. */
function show(lang = "en", screen = ""): void {
  act(() =>
    render(
      <LocaleContext.Provider value={localeFor(lang)}>
        <StudyContext.Provider value={studyOf(screen)}>
          <TimeContext.Provider value={() => NOW}>
            <ActionsContext.Provider value={live}>
              <LiveView model={live.model} onAnother={null} />
            </ActionsContext.Provider>
          </TimeContext.Provider>
        </StudyContext.Provider>
      </LocaleContext.Provider>,
      root,
    ),
  );
}

function happens(...happenings: Parameters<Tell>[0][]): void {
  for (const happening of happenings) tell(happening);
  show();
}

const stateOf = (name: string, lang = "en") => screens[name]?.(lang).state as State;
const begin = (name: string, lang = "en") => {
  tell({ kind: "connected" });
  tell({ kind: "state", state: stateOf(name, lang), at: NOW });
  show(lang, name);
};
const frame = (payload: object) =>
  ({ kind: "frame", frame: { seq: live.model.seq + 1, ...payload }, at: NOW }) as Parameters<Tell>[0];
const told = () => frame({ text: "Please go on.", at: NOW });
const find = (testid: string) => root.querySelector<HTMLElement>(`[data-testid="${testid}"]`);
const turnTo = (page: boolean) => {
  looks = page;
  act(() => void document.dispatchEvent(new Event("visibilitychange")));
};

describe("a message of the team", () => {
  it.each([["en", "Message from the research team"], ["ar", "رسالة من فريق البحث"]])(
    "stands in the conversation in %s, and nobody takes it for the partner's",
    (lang, heading) => {
      begin("told", lang);
      const team = find("team-message");
      expect(team?.textContent).toContain(heading);
      expect(team?.className).not.toContain("bubble");
      expect(team?.querySelector("[dir=auto]")).not.toBeNull();
      expect(team?.closest("[role=log][aria-live=polite]")).not.toBeNull();
      const order = [...root.querySelectorAll("[data-testid=log] > [data-seq]")];
      expect(order.map((each) => (each as HTMLElement).dataset["testid"])).toEqual([
        ...Array(4).fill("message"),
        "team-message",
        "more-time",
        "message",
      ]);
    },
  );

  it("is one element more for who listens, and tells the first thing to do as before", () => {
    begin("ask-first");
    const before = find("now-line")?.textContent;
    happens(told());
    expect(find("team-message")?.textContent).toContain("Please go on.");
    expect(root.querySelector(".log-empty")).toBeNull();
    expect(find("now-line")?.textContent).toBe(before);
  });

  it("is heard, and seen in the title, by who looks elsewhere, until they look", () => {
    begin("answer-first");
    turnTo(false);
    happens(told());
    expect(sound.play).toHaveBeenCalledExactlyOnceWith("turn");
    expect(document.title).toBe("● Message from the team – Talk about a picture");
    turnTo(true);
    expect(document.title).toBe("Talk about a picture");
    turnTo(false);
    expect(document.title).toBe("Talk about a picture");
  });

  it("makes no noise for who looks, nor when the page is loaded again", () => {
    begin("told");
    turnTo(true);
    happens(told());
    expect(sound.play).not.toHaveBeenCalled();
    expect(document.title).not.toContain("team");
    turnTo(false);
    happens({ kind: "state", state: { ...live.model.state, seq: live.model.seq } as State, at: NOW });
    expect(sound.play).not.toHaveBeenCalled();
  });
});

describe("more time", () => {
  it("is told in a line, and moves what is counted down", () => {
    begin("turn-ends");
    expect(find("turn-countdown")).not.toBeNull();
    happens(frame({ turn_ends_at: NOW + 180, grace_ends_at: null, now: NOW }));
    expect(find("more-time")?.textContent).toBe("The research team gave you more time.");
    expect(find("more-time")?.closest("[role=log]")).not.toBeNull();
    expect(find("turn-countdown")).toBeNull();
  });

  it("renews the wait for a partner who is away", () => {
    begin("away");
    expect(find("partner-away")?.textContent).toContain("0:47");
    happens(frame({ turn_ends_at: NOW + 180, grace_ends_at: NOW + 60, now: NOW }));
    expect(find("partner-away")?.textContent).toContain("1:00");
  });
});

describe("an end by the team", () => {
  it.each(["", "-mturk", "-prolific"])("says who ended it, why, and what to do (%s)", (where) => {
    begin(`ended-by-team${where}`);
    expect(root.textContent).toContain("The research team ended this dialog");
    expect(root.textContent).not.toMatch(/left|time for this dialog/);
    expect(find("team-reason")?.textContent).toContain("The picture of this dialog is broken");
    expect(find("team-reason")?.querySelector("[dir=auto]")).not.toBeNull();
    expect(find(where === "" ? "amount" : "hand-in")?.textContent).toMatch(/\$(1\.50|0\.90)/);
    expect(find("finish")).not.toBeNull();
  });

  it("on a link shows the code and the whole conversation, the team's words in it", () => {
    begin("ended-by-team");
    expect(find("code")?.textContent).toBe("DUO-7F3K-92QM");
    expect(root.querySelectorAll("[data-testid=transcript] [data-testid=message]")).toHaveLength(5);
    expect(root.querySelectorAll("[data-testid=transcript] [data-testid=team-message]")).toHaveLength(1);
  });

  it.each([
    ["ended-by-team-prolific", "Do not return your submission"],
    ["ended-by-team-less-prolific", "paid all the same"],
    ["ended-by-team-unpaid-prolific", "Nothing is paid"],
  ])("on %s says what Prolific will ask", (name, words) => {
    begin(name);
    expect(find("hand-in")?.textContent).toContain(words);
  });

  it("has nothing handed in where nothing is paid", () => {
    begin("ended-by-team-unpaid-mturk");
    expect(find("give-back")).not.toBeNull();
    expect(find("finish")).toBeNull();
  });

  it("is none when the time was over, and shows no empty reason", () => {
    begin("time-over");
    expect(root.textContent).toContain("time for this dialog was over");
    expect(root.textContent).not.toContain("research team");
    begin("ended-by-team-unpaid");
    expect(find("team-reason")).toBeNull();
    expect(root.textContent).toContain("Nothing is paid for this.");
  });
});
