/** A button that stays where it is, and in focus, while it cannot be pressed. */

import type { ComponentChildren } from "preact";

interface Props {
  testid: string;
  children: ComponentChildren;
  onPress: () => void;
  look?: "main" | "plain" | "quiet" | "danger";
  unavailable?: boolean;
  busy?: boolean;
  label?: string | undefined;
  /** The key that does the same, shown on the button. */
  hint?: string | undefined;
  pressed?: boolean | undefined;
}

export function Button(props: Props) {
  const { testid, children, onPress, look = "plain", unavailable = false, busy = false, hint } = props;
  const off = unavailable || busy;
  return (
    <button
      type="button"
      class={`button button-${look}`}
      data-testid={testid}
      aria-disabled={off}
      aria-busy={busy}
      aria-label={props.label}
      aria-pressed={props.pressed}
      aria-keyshortcuts={hint}
      onClick={() => !off && onPress()}
    >
      {children}
      {hint !== undefined && <kbd aria-hidden="true">{hint === "Shift+P" ? "⇧P" : hint}</kbd>}
    </button>
  );
}
