import { beforeAll, describe, expect, it, vi } from "vitest";
import { hrefOf, nextOf, placeOf, pressedLink, Router, type Site } from "./router";

describe("an address", () => {
  it.each([
    ["/monitor", { view: "now" }],
    ["/monitor/", { view: "now" }],
    ["/monitor?x=1#live", { view: "now" }],
    ["/monitor/dialogs?phase=solo", { view: "dialogs" }],
    ["/monitor/dialogs/d%2F1", { view: "dialog", id: "d/1" }],
    ["/monitor/workers/w1", { view: "worker", id: "w1" }],
    ["/monitor/log", { view: "log" }],
    ["/sign-in?next=/monitor", { view: "sign-in" }],
    ["/monitor/nowhere", { view: "missing" }],
    ["/monitor/dialogs/d1/more", { view: "missing" }],
    ["/monitor/review/d1", { view: "missing" }],
    ["/monitor/dialogs/%E0%A4%A", { view: "missing" }],
    ["/monitors", { view: "missing" }],
  ])("%s names a view", (href, place) => expect(placeOf(href)).toEqual(place));

  it("leaves out what is empty in a query", () => {
    expect(hrefOf("/monitor/dialogs", { phase: "", flag: "a b" })).toBe("/monitor/dialogs?flag=a+b");
    expect(hrefOf("/monitor", {})).toBe("/monitor");
  });

  it.each([
    ["/sign-in?next=%2Fmonitor%2Freview%3Fflag%3Dx", "/monitor/review?flag=x"],
    ["/sign-in", "/monitor"],
    ["/sign-in?next=https://elsewhere.example/monitor", "/monitor"],
    ["/sign-in?next=//elsewhere.example", "/monitor"],
    ["/sign-in?next=/monitor\\..\\work", "/monitor"],
    ["/sign-in?next=/monitorx", "/monitor"],
    ["/sign-in?next=/monitor/..//elsewhere.example/", "/monitor"],
    ["/sign-in?next=/monitor/%252e%252e/work", "/monitor"],
  ])("%s leads after signing in only to this page", (href, next) => expect(nextOf(href)).toBe(next));
});

interface HappyDom {
  happyDOM: { settings: { navigation: { disableMainFrameNavigation: boolean; disableChildPageNavigation: boolean } } };
}

describe("a press", () => {
  beforeAll(() => {
    // The links of these tests lead nowhere.
    const { navigation } = (window as unknown as HappyDom).happyDOM.settings;
    navigation.disableMainFrameNavigation = true;
    navigation.disableChildPageNavigation = true;
  });
  const press = (html: string, init: MouseEventInit = {}): string | null => {
    document.body.innerHTML = html;
    const event = new MouseEvent("click", { bubbles: true, cancelable: true, button: 0, ...init });
    let found: string | null = null;
    document.body.addEventListener("click", (e) => {
      found = pressedLink(e);
      e.preventDefault();
    }, { once: true });
    (document.querySelector("b") ?? document.body).dispatchEvent(event);
    return found;
  };
  it("on a link of this page is taken", () =>
    expect(press('<a href="/monitor/log"><b>Log</b></a>')).toBe("/monitor/log"));
  it.each([
    ["with a key held", '<a href="/monitor/log"><b>Log</b></a>', { ctrlKey: true }],
    ["of another button", '<a href="/monitor/log"><b>Log</b></a>', { button: 1 }],
    ["for another tab", '<a href="/monitor/log" target="_blank"><b>Log</b></a>', {}],
    ["on another site", '<a href="https://example.org"><b>Log</b></a>', {}],
    ["on a place in the view", '<a href="#live"><b>Log</b></a>', {}],
    ["on no link", "<b>Log</b>", {}],
  ])("%s is left to the browser", (_, html, init) => expect(press(html, init)).toBeNull());
});

describe("the router", () => {
  it("goes, replaces, and follows the browser back", () => {
    let here = "/monitor";
    let moved = () => undefined as void;
    const unwatch = vi.fn();
    const site: Site = {
      read: () => here,
      push: vi.fn((href: string) => void (here = href)),
      replace: vi.fn((href: string) => void (here = href)),
      watch: (call) => {
        moved = call;
        return unwatch;
      },
    };
    const router = new Router(site);
    router.go("/monitor/log");
    router.go("/monitor/log");
    expect(site.push).toHaveBeenCalledTimes(1);
    router.replace("/monitor/log?by=x");
    expect(router.at.value).toBe("/monitor/log?by=x");
    here = "/monitor";
    moved();
    expect(router.at.value).toBe("/monitor");
    router.close();
    expect(unwatch).toHaveBeenCalled();
  });
});
