/** Short chimes made on the spot, so that no file has to be fetched. */

export type Chime = "match" | "turn";

/** Frequencies in hertz, one after the other. */
const NOTES: Record<Chime, readonly number[]> = { match: [523.25, 659.25, 783.99], turn: [659.25] };
const NOTE_S = 0.16;
const LOUDNESS = 0.15;

let context: AudioContext | null = null;

/** Browsers allow sound only after a click, so call this from one. */
export function unlockSound(): void {
  if (typeof AudioContext === "undefined") return;
  context ??= new AudioContext();
  void context.resume().catch(() => undefined);
}

export function play(chime: Chime): void {
  if (context?.state !== "running") return;
  const start = context.currentTime;
  NOTES[chime].forEach((frequency, index) => {
    if (context === null) return;
    const at = start + index * NOTE_S;
    const tone = new OscillatorNode(context, { type: "sine", frequency });
    const volume = new GainNode(context, { gain: 0 });
    volume.gain.setValueAtTime(0, at);
    volume.gain.linearRampToValueAtTime(LOUDNESS, at + 0.02);
    volume.gain.exponentialRampToValueAtTime(0.001, at + 2.5 * NOTE_S);
    tone.connect(volume).connect(context.destination);
    tone.start(at);
    tone.stop(at + 2.5 * NOTE_S);
  });
}
