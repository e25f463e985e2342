/** A fault in a view must not leave a blank page behind: the others can still be gone to. */

import { Component, type ComponentChildren } from "preact";
import { t } from "./texts";

interface Props {
  children: ComponentChildren;
}

export class Guard extends Component<Props, { crashed: boolean }> {
  override state = { crashed: false };

  static override getDerivedStateFromError() {
    return { crashed: true };
  }

  override render({ children }: Props) {
    if (!this.state.crashed) return children;
    return (
      <div class="note note-bad" role="alert">
        <h1>{t.crashed.title}</h1>
        <p>{t.crashed.what}</p>
      </div>
    );
  }
}
