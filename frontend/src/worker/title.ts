/** The window's title, which is all that a worker in another tab can see. */

const FLASH_MS = 1_000;

let flashing: ReturnType<typeof setInterval> | undefined;

export function showTitle(title: string): void {
  clearInterval(flashing);
  document.title = title;
}

/** Swaps two titles until another is shown; a reader who asked for less motion gets only `call`. */
export function flashTitle(call: string, rest: string): void {
  showTitle(call);
  if (window.matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  flashing = setInterval(() => {
    document.title = document.title === call ? rest : call;
  }, FLASH_MS);
}
