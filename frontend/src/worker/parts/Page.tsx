/** The frame of every screen but the chat: a card whose heading takes the focus when it appears. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Contact } from "./Contact";

interface Props {
  screen: string;
  title: string;
  above?: ComponentChildren;
  narrow?: boolean;
  children: ComponentChildren;
}

export function Page({ screen, title, above, narrow = false, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    window.scrollTo(0, 0);
    heading.current?.focus({ preventScroll: true });
  }, [screen]);
  return (
    <main class={narrow ? "page page-narrow" : "page"} data-testid={`screen-${screen}`}>
      {above}
      <h1 ref={heading} tabIndex={-1} dir="auto">
        {title}
      </h1>
      {children}
      <Contact />
    </main>
  );
}
