/** Labelled fields. */

import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface Common {
  label: string;
  testid: string;
  hint?: string | undefined;
  problem?: string | undefined;
}

interface TextProps extends Common {
  value: string;
  onInput: (value: string) => void;
  lines?: number;
  max?: number;
  type?: "text" | "password" | "search" | "datetime-local";
  mode?: "decimal" | "numeric";
  complete?: string;
  first?: boolean;
  unit?: string;
  list?: readonly string[];
  placeholder?: string;
}

export function TextField(props: TextProps) {
  const { label, value, testid, hint, problem, lines, first = false, list } = props;
  const id = useId();
  const shared = {
    id,
    value,
    class: "box",
    "data-testid": testid,
    dir: "auto" as const,
    maxLength: props.max ?? 1000,
    autofocus: first,
    "aria-describedby": hint || problem ? `${id}-more` : undefined,
    "aria-invalid": problem ? true : undefined,
    placeholder: props.placeholder,
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {lines === undefined ? (
        <span class="field-row">
          <input
            {...shared}
            // What an input may have is typed by its kind, which is only known by whoever asks for it.
            type={(props.type ?? "text") as "text"}
            inputMode={props.mode}
            autocomplete={props.complete ?? "off"}
            list={list && `${id}-list`}
            onInput={(event) => props.onInput(event.currentTarget.value)}
          />
          {props.unit && <span class="unit">{props.unit}</span>}
        </span>
      ) : (
        <textarea {...shared} rows={lines} onInput={(event) => props.onInput(event.currentTarget.value)} />
      )}
      {list && (
        <datalist id={`${id}-list`}>
          {list.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      )}
      {(hint || problem) && (
        <span id={`${id}-more`} class={problem ? "field-problem" : "field-hint"}>
          {problem || hint}
        </span>
      )}
    </div>
  );
}

interface ChoiceProps extends Common {
  value: string;
  options: readonly (readonly [value: string, text: string])[];
  onChange: (value: string) => void;
}

/** `describedBy` is the id of what says more about what is chosen. */
export function SelectField({ label, value, testid, options, onChange, describedBy }: ChoiceProps & { describedBy?: string | undefined }) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        class="box"
        data-testid={testid}
        value={value}
        aria-describedby={describedBy}
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        {options.map(([key, text]) => (
          <option key={key} value={key}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

export function RadioField({ label, value, testid, options, onChange }: ChoiceProps) {
  const name = useId();
  return (
    <fieldset class="field radios" data-testid={testid}>
      <legend>{label}</legend>
      {options.map(([key, text]) => (
        <label key={key} class="radio">
          <input type="radio" name={name} value={key} checked={key === value} onChange={() => onChange(key)} />
          <span>{text}</span>
        </label>
      ))}
    </fieldset>
  );
}

interface CheckProps {
  checked: boolean;
  testid: string;
  onChange: (checked: boolean) => void;
  children: ComponentChildren;
}

export function CheckField({ checked, testid, onChange, children }: CheckProps) {
  return (
    <label class="radio">
      <input type="checkbox" data-testid={testid} checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} />
      <span>{children}</span>
    </label>
  );
}
