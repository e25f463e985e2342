/** Shows one state of the monitor by `?screen=name`, or the list of them. For looking only. */

import { render } from "preact";
import "../../styles/monitor.css";
import { Api } from "../../monitor/api";
import { App } from "../../monitor/App";
import { Clock } from "../../monitor/clock";
import { Router, type Site } from "../../monitor/router";
import scene from "../scene.svg";
import { me, NOW } from "./data";
import { screens, type Screen } from "./screens";
import { fakeFetch, fakeSocket } from "./server";

const wanted = new URLSearchParams(location.search).get("screen") ?? "";
const screen = screens[wanted];
const root = document.getElementById("app");

if (root !== null && screen === undefined) {
  render(
    <main>
      <h1>Gallery of the monitor</h1>
      <ul data-testid="screens">
        {Object.keys(screens).map((name) => (
          <li key={name}>
            <a href={`?screen=${name}`}>{name}</a>
          </li>
        ))}
      </ul>
    </main>,
    root,
  );
} else if (root !== null && screen !== undefined) {
  show(screen, root);
  void play(screen).then(() => {
    document.documentElement.dataset.ready = "yes";
  });
}

function show({ at, role = "owner", answers = {}, told = {} }: Screen, where: HTMLElement): void {
  let here = at;
  const site: Site = {
    read: () => here,
    push: (href) => void (here = href),
    replace: (href) => void (here = href),
    watch: () => () => undefined,
  };
  const all = { me: { ...me, role }, ...answers };
  const api = new Api(fakeFetch(all));
  api.picture = () => scene;
  // The page's own clock is only asked for when a connection was lost.
  Date.now = () => NOW * 1_000;
  const clock = new Clock(told.busy ? () => NOW + performance.now() / 1_000 : () => NOW);
  render(<App api={api} clock={clock} router={new Router(site)} open={fakeSocket(told, all)} />, where);
}

async function play({ press = [], keys = [] }: Screen): Promise<void> {
  await settled();
  if (keys.length > 0) await find("accept");
  for (const key of keys) {
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, shiftKey: key === "P" }));
    await settled();
  }
  let last: HTMLElement | null = null;
  for (const step of press) {
    if (step.startsWith("=")) write(last, step.slice(1));
    else {
      last = await find(step);
      last?.click();
    }
    await settled();
  }
}

function write(field: HTMLElement | null, text: string): void {
  if (!(field instanceof HTMLInputElement)) return;
  field.value = text;
  field.dispatchEvent(new InputEvent("input", { bubbles: true }));
}

/** What is to be pressed, as soon as it is there. */
async function find(step: string): Promise<HTMLElement | null> {
  for (let n = 0; n < 100; n += 1) {
    const found = seen(step);
    if (found !== null) return found;
    await settled();
  }
  return null;
}

function seen(step: string): HTMLElement | null {
  const [kind, name] = step.split(":");
  if (kind === "choose") {
    return document.querySelectorAll<HTMLElement>("[data-testid=payments-table] input")[Number(name)] ?? null;
  }
  return document.querySelector<HTMLElement>(kind === "radio" ? `input[value="${name}"]` : `[data-testid="${step}"]`);
}

/** A few frames: what was pressed is answered and shown. */
async function settled(): Promise<void> {
  for (let n = 0; n < 4; n += 1) await new Promise((next) => setTimeout(next, 20));
}
