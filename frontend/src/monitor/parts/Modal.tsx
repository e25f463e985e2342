/** A native dialog with a form: it keeps the focus inside, closes on Escape and gives it back. */

import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import type { Act } from "../act";
import { t } from "../texts";

interface ModalProps {
  title: string;
  testid: string;
  onClose: () => void;
  children: ComponentChildren;
}

export function Modal({ title, testid, onClose, children }: ModalProps) {
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
      class="modal"
      data-testid={testid}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <h2 id={heading}>{title}</h2>
      {children}
    </dialog>
  );
}

interface AskProps extends ModalProps {
  act: Act;
  submit: string;
  /** It costs money or hurts somebody. */
  grave?: boolean;
  unavailable?: boolean;
  onSubmit: () => void;
}

/** A question before something is done: its fields, what is wrong, and two buttons. */
export function Ask({ act, submit, grave = false, unavailable = false, onSubmit, ...modal }: AskProps) {
  const form = useRef<HTMLFormElement>(null);
  const off = act.busy || unavailable;
  return (
    <Modal {...modal} onClose={() => !act.busy && modal.onClose()}>
      <form
        ref={form}
        class="ask"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (!off) onSubmit();
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.current?.requestSubmit();
        }}
      >
        {modal.children}
        <Problem text={act.error} />
        <div class="ask-buttons">
          <button type="button" class="button button-plain" data-testid="ask-cancel" onClick={() => !act.busy && modal.onClose()}>
            {t.common.cancel}
          </button>
          <button
            type="submit"
            class={`button ${grave ? "button-grave" : "button-main"}`}
            data-testid="ask-submit"
            aria-disabled={off}
            aria-busy={act.busy}
          >
            {act.busy ? t.common.working : submit}
          </button>
        </div>
      </form>
    </Modal>
  );
}

/** What went wrong, read out when it comes. */
export function Problem({ text }: { text: string }) {
  return (
    <div role="alert">
      {text !== "" && (
        <p class="problem" data-testid="problem">
          {text}
        </p>
      )}
    </div>
  );
}
