/** A button that stays where it is, and in focus, while it cannot be pressed. */

import type { ComponentChildren } from "preact";

interface Props {
  testid: string;
  children: ComponentChildren;
  onPress: () => void;
  look?: "main" | "plain" | "quiet" | "danger";
  unavailable?: boolean;
  busy?: boolean;
  describedBy?: string | undefined;
  label?: string | undefined;
}

export function Button(props: Props) {
  const { testid, children, onPress, look = "plain", unavailable = false, busy = false } = props;
  const off = unavailable || busy;
  return (
    <button
      type="button"
      class={`button button-${look}`}
      data-testid={testid}
      aria-disabled={off}
      aria-busy={busy}
      aria-describedby={props.describedBy}
      aria-label={props.label}
      onClick={() => !off && onPress()}
    >
      {children}
    </button>
  );
}
