/** The top of a view: its heading, the window's title, and what can be done with all of it. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useMonitor } from "../context";
import { t } from "../texts";

interface Props {
  title: string;
  /** What the heading says beyond the title. */
  more?: ComponentChildren;
  back?: { href: string; text: string };
  children?: ComponentChildren;
}

/** A view that follows another one tells a screen reader so, by its heading. */
let shownBefore = false;

export function Head({ title, more, back, children }: Props) {
  const { me } = useMonitor();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = t.windowTitle(title, me.study.title);
  }, [title]);
  useEffect(() => {
    if (shownBefore) heading.current?.focus({ preventScroll: true });
    shownBefore = true;
  }, []);
  return (
    <header class="head">
      <div class="head-text">
        {back && (
          <a class="back" href={back.href}>
            ← {back.text}
          </a>
        )}
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {more}
      </div>
      {children && <div class="head-tools">{children}</div>}
    </header>
  );
}
