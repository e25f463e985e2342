/** The filters of a list. They stand in the address, so that what is seen can be sent on. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { fromLocalField, localField } from "../format";
import { t } from "../texts";
import { SelectField, TextField } from "./fields";
import type { Filters } from "./Pager";

interface BarProps {
  children: ComponentChildren;
  label?: string;
}

export function FilterBar({ children, label = t.filters.label }: BarProps) {
  return (
    <form class="filters" role="search" aria-label={label} onSubmit={(event) => event.preventDefault()}>
      {children}
    </form>
  );
}

export interface FieldProps {
  name: string;
  label: string;
  filters: Filters;
  set: (name: string, value: string) => void;
}

const TYPING_MS = 350;

/** Asks when somebody has stopped writing, not at every letter. */
export function FilterText({ name, label, filters, set, list, placeholder }: FieldProps & { list?: readonly string[]; placeholder?: string }) {
  const known = filters[name] ?? "";
  const [text, setText] = useState(known);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => setText(known), [known]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const write = (value: string) => {
    setText(value);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => set(name, value.trim()), TYPING_MS);
  };
  return (
    <TextField
      label={label}
      testid={`filter-${name}`}
      type="search"
      value={text}
      onInput={write}
      max={100}
      {...(list && { list })}
      {...(placeholder && { placeholder })}
    />
  );
}

export function FilterSelect({ name, label, filters, set, options }: FieldProps & { options: readonly (readonly [string, string])[] }) {
  return (
    <SelectField
      label={label}
      testid={`filter-${name}`}
      value={filters[name] ?? ""}
      options={[["", t.filters.all], ...options]}
      onChange={(value) => set(name, value)}
    />
  );
}

/** Seconds in the address, the reader's own time in the field. */
export function FilterTime({ name, label, filters, set }: FieldProps) {
  const at = Number(filters[name] ?? "");
  return (
    <TextField
      label={label}
      testid={`filter-${name}`}
      type="datetime-local"
      value={at > 0 ? localField(at) : ""}
      onInput={(text) => {
        const time = fromLocalField(text);
        set(name, time === null ? "" : String(time));
      }}
    />
  );
}

export const optionsOf = (names: Readonly<Record<string, string>>): (readonly [string, string])[] => Object.entries(names);
