/** What every view needs, and how it gets at it. */

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { AdminRole, Me } from "../generated/monitor";
import type { Api } from "./api";
import type { Clock } from "./clock";
import type { FlagBook } from "./flags";
import { money } from "./format";
import type { Live } from "./live";
import type { Router } from "./router";
import type { Toasts } from "./toasts";

export interface Monitor {
  api: Api;
  live: Live;
  clock: Clock;
  router: Router;
  toasts: Toasts;
  flags: FlagBook;
  me: Me;
}

export const MonitorContext = createContext<Monitor | null>(null);

export function useMonitor(): Monitor {
  const monitor = useContext(MonitorContext);
  if (monitor === null) throw new Error("outside of the monitor");
  return monitor;
}

/** Who may do what: the server decides, the page only leaves out what would be refused. */
const LEVEL: Record<AdminRole, number> = { viewer: 0, reviewer: 1, owner: 2 };

export function useMay(least: AdminRole): boolean {
  return LEVEL[useMonitor().me.role] >= LEVEL[least];
}

export function useMoney(): (cents: number) => string {
  const { currency } = useMonitor().me.study;
  return (cents) => money(cents, currency);
}
