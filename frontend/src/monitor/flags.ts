/** What the flags are called and mean; the server knows, and is asked once for the whole page. */

import type { FlagOut } from "../generated/monitor";
import { useMonitor } from "./context";
import { Store, useStore } from "./store";
import { nameOf } from "./texts";

export type FlagNames = ReadonlyMap<string, FlagOut>;

export const flagsByName = (flags: readonly FlagOut[]): FlagNames => new Map(flags.map((flag) => [flag.name, flag]));

export class FlagBook {
  readonly known = new Store<FlagNames>(new Map());

  take(flags: readonly FlagOut[]): void {
    this.known.set(flagsByName(flags));
  }
}

/** One flag; before the server has told of it, its name has to do. */
export function useFlag(name: string): FlagOut {
  const known = useStore(useMonitor().flags.known);
  return flagOf(known, name);
}

export const flagOf = (known: FlagNames, name: string): FlagOut =>
  known.get(name) ?? { name, label: nameOf(name), means: "", severity: null, dialogs: 0 };
