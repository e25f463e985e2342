/** A native dialog: it keeps the focus inside, closes on Escape and gives the focus back. */

import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { useLocale } from "../context";
import { Icon } from "./Icon";

interface Props {
  title: string;
  testid: string;
  wide?: boolean;
  /** Buttons beside the title. */
  tools?: ComponentChildren;
  onClose: () => void;
  children: ComponentChildren;
}

export function Modal({ title, testid, wide = false, tools, onClose, children }: Props) {
  const { t } = useLocale();
  const ref = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const dialog = ref.current;
    const opener = document.activeElement;
    dialog?.showModal();
    return () => {
      dialog?.close();
      // The browser gives the focus back only to what it saw closing, not to what is taken away.
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      class={wide ? "modal modal-wide" : "modal"}
      data-testid={testid}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div class="modal-head">
        <h2 id={heading}>{title}</h2>
        {tools}
        <button
          type="button"
          class="button button-quiet button-icon"
          data-testid={`${testid}-close`}
          aria-label={t.common.close}
          onClick={onClose}
        >
          <Icon name="close" />
        </button>
      </div>
      {children}
    </dialog>
  );
}
