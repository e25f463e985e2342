import { render } from "preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ArrivalRequest, StudyOut } from "../generated/wire";
import { study } from "../gallery/fixtures";
import { App } from "./App";

vi.mock("socket.io-client", () => {
  const socket = {
    on: () => socket,
    connect: () => socket,
    disconnect: () => socket,
    connected: false,
  };
  return { io: () => socket };
});

let root: HTMLElement;
let offered: StudyOut;
let arrivals: ArrivalRequest[];
let arrive: (request: ArrivalRequest) => [number, unknown];

const unknown: [number, unknown] = [404, { error: "No arrival yet.", code: "bad_request" }];
const token: [number, unknown] = [200, { token: "token" }];

beforeEach(() => {
  offered = study;
  arrivals = [];
  arrive = (request) => (request.consented ? token : unknown);
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    if (url.startsWith("/api/study")) return Response.json(offered);
    const request = JSON.parse(String(init.body)) as ArrivalRequest;
    arrivals.push(request);
    const [status, body] = arrive(request);
    return Response.json(body, { status });
  });
  root = document.createElement("div");
  document.body.append(root);
});
afterEach(() => {
  render(null, root);
  root.remove();
  vi.unstubAllGlobals();
});

const find = (testid: string) => root.querySelector<HTMLElement>(`[data-testid="${testid}"]`);
const appears = (testid: string) => vi.waitFor(() => expect(find(testid)).not.toBeNull());
const press = async (testid: string) => {
  await appears(testid);
  find(testid)?.click();
};
const answer = (...options: number[]) => {
  const questions = root.querySelectorAll("[data-testid=check-question]");
  options.forEach((option, index) => questions[index]?.querySelectorAll("input")[option]?.click());
};

describe("the page", () => {
  it("resumes an arrival that is already there", async () => {
    arrive = () => token;
    render(<App />, root);
    await appears("screen-loading");
    await vi.waitFor(() => expect(root.querySelector("[data-link]")).not.toBeNull());
    expect(arrivals).toMatchObject([{ consented: false, another: false, language: "en" }]);
    expect(arrivals[0]?.worker_key).toMatch(/^[0-9a-f]{32}$/);
  });

  it("leads a new worker to the check, which may be tried again", async () => {
    arrive = ({ consented, check_answers }) =>
      !consented
        ? unknown
        : String(check_answers) === "1,1"
          ? token
          : [422, { error: "Please read the instructions again.", code: "wrong_answers", questions: [1] }];
    render(<App />, root);
    await press("begin");
    await press("agree");
    await press("instructions-next");
    await press("check-submit");
    await appears("check-incomplete");
    answer(0, 1);
    await press("check-submit");
    await vi.waitFor(() => expect(find("problem")?.textContent).toContain("read the instructions"));
    const marked = () =>
      [...root.querySelectorAll<HTMLElement>("[data-testid=check-question]")].map((q) => q.dataset["again"]);
    expect(marked()).toEqual(["true", "false"]);
    expect(root.querySelector("[data-again=true] legend")?.textContent).toContain("look at this one again");
    await press("back");
    await press("instructions-next");
    await appears("check-submit");
    expect(marked(), "kept while the instructions are read").toEqual(["true", "false"]);
    answer(1, 1);
    await vi.waitFor(() => expect(marked()).toEqual(["false", "false"]));
    await press("check-submit");
    await vi.waitFor(() => expect(root.querySelector("[data-link]")).not.toBeNull());
    expect(arrivals.at(-1)).toMatchObject({ consented: true, check_answers: [1, 1] });
  });

  it("takes no seat from a preview", async () => {
    offered = { ...study, preview: true };
    render(<App />, root);
    await press("begin");
    expect(find("begin")?.getAttribute("aria-disabled")).toBe("true");
    expect(find("begin-why-not")?.textContent).toContain("Accept the work first");
    expect(find("screen-preview")).not.toBeNull();
    expect(arrivals).toEqual([]);
  });

  it("says at the top why nobody can begin in a paused study", async () => {
    offered = { ...study, paused: true };
    render(<App />, root);
    await appears("paused");
    const [first] = root.querySelectorAll("main > :not(h1)");
    expect(first).toBe(find("paused"));
    expect(find("begin")?.getAttribute("aria-disabled")).toBe("true");
  });

  it("says why somebody cannot take part", async () => {
    arrive = () => [409, { error: "You have taken part often enough.", code: "cap_reached" }];
    render(<App />, root);
    await appears("stopped-reason");
    expect(find("stopped-reason")?.dataset["code"]).toBe("cap_reached");
  });

  it("says which invitation is missing, and whom to ask, but not to load the page again", async () => {
    arrive = () => [403, { error: "The code is not known.", code: "unknown_invitation" }];
    render(<App />, root);
    await appears("stopped-reason");
    expect(find("page-contact")?.textContent).toBe(study.contact);
    expect(find("reload")).toBeNull();
  });

  it("has the answers to the check in the instructions", async () => {
    offered = { ...study, leaving_pays: 20 };
    render(<App />, root);
    await press("begin");
    await press("agree");
    await appears("about-leaving");
    const words = find("about-leaving")?.textContent;
    expect(words).toContain("you finish alone, as the page tells you, and are paid in full, $1.50");
    expect(words).toContain("you give up the pay for the dialog");
    expect(words).toContain("$0.20");
  });

  it("keeps trying while the server cannot be reached", async () => {
    vi.stubGlobal("fetch", () => Promise.reject(new TypeError("network")));
    render(<App />, root);
    await appears("screen-unreachable");
  });

  it("speaks the language that was chosen, and keeps it", async () => {
    render(<App />, root);
    await appears("language");
    const chooser = find("language") as HTMLSelectElement;
    chooser.value = "ar";
    chooser.dispatchEvent(new Event("change", { bubbles: true }));
    await vi.waitFor(() => expect(document.documentElement.dir).toBe("rtl"));
    expect(localStorage.getItem("duologue.language")).toBe("ar");
    localStorage.clear();
  });
});
