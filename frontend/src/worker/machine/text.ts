/** The limits of a message's text, as `dialogs/limits.py` has them. */

/** The fillers of Hangul and the empty Braille pattern are letters and a symbol that draw nothing. */
const INVISIBLE =
  /^[\p{Cc}\p{Cf}\p{Cs}\p{Cn}\p{Z}\p{Mn}\p{Me}\u115f\u1160\u2800\u3164\uffa0]*$/u;
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;

/** A message is one line: line breaks and tabs, typed or pasted, become spaces. */
export function oneLine(text: string): string {
  return text.replace(CONTROL, " ");
}

const LONE_SURROGATE = /\p{Cs}/gu;

/** Browsers since the autumn of 2023. */
type Modern = string & { toWellFormed?: () => string };

/** Half of a character, such as a cut emoji leaves behind, has no place in what is sent as UTF-8. */
export function wellFormed(text: string): string {
  return (text as Modern).toWellFormed?.() ?? text.replace(LONE_SURROGATE, "\ufffd");
}

/** Code points after trimming, which is how the server counts. */
export function countCharacters(text: string): number {
  return [...text.trim()].length;
}

export function isBlank(text: string): boolean {
  return INVISIBLE.test(text);
}

export function fits(text: string, max: number): boolean {
  return !isBlank(text) && countCharacters(text) <= max;
}
