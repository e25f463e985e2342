/** The HTTP part: what the study is, and the token of an arrival. */

import { isRefused } from "./connection";
import type { ArrivalAnswer, ArrivalRequest, Refused, StudyOut } from "../generated/wire";

/** `refused` is null when the server could not be reached or did not speak our language. */
export type Answer<T> =
  | { ok: true; value: T }
  | { ok: false; status: number; refused: Refused | null };

export function fetchStudy(query: string): Promise<Answer<StudyOut>> {
  return ask<StudyOut>(`/api/study${query}`, {});
}

export function postArrival(request: ArrivalRequest): Promise<Answer<ArrivalAnswer>> {
  return ask<ArrivalAnswer>("/api/arrivals", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(request),
  });
}

async function ask<T>(url: string, init: RequestInit): Promise<Answer<T>> {
  try {
    const response = await fetch(url, { ...init, credentials: "omit", cache: "no-store" });
    const body: unknown = await response.json();
    if (response.ok) return { ok: true, value: body as T };
    return { ok: false, status: response.status, refused: isRefused(body) ? body : null };
  } catch {
    return { ok: false, status: 0, refused: null };
  }
}
