/** A fault in a screen must not leave a blank page behind. */

import { Component, type ComponentChildren } from "preact";
import { Crashed } from "./screens/Halted";

interface Props {
  children: ComponentChildren;
}

export class Guard extends Component<Props, { crashed: boolean }> {
  override state = { crashed: false };

  static override getDerivedStateFromError() {
    return { crashed: true };
  }

  override render({ children }: Props) {
    return this.state.crashed ? <Crashed /> : children;
  }
}
