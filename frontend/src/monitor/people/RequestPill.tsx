import type { RequestState } from "../../generated/monitor";
import { Pill, type Tone } from "../parts/Pill";
import { t } from "../texts";

const TONES: Record<RequestState, Tone> = { wanted: "accent", done: "good", failed: "bad", dismissed: "calm" };

export const RequestPill = ({ state }: { state: RequestState }) => <Pill tone={TONES[state]}>{t.requestStates[state]}</Pill>;
