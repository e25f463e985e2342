/** The box: Enter sends, the count warns, and a refused message comes back with the reason. */

import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { Dialog } from "../../generated/wire";
import { refusalText, useActions, useLocale } from "../context";
import { mayWrite, openQuestion, type Model } from "../machine/model";
import { countCharacters, fits } from "../machine/text";
import { Button } from "../parts/Button";
import { Icon } from "../parts/Icon";
import { NOW_LINE_ID } from "./NowLine";

/** From this share of the limit on, the count stands out. */
const NEARLY_FULL = 0.9;

export function Composer({ model, dialog }: { model: Model; dialog: Dialog }) {
  const locale = useLocale();
  const { t } = locale;
  const actions = useActions();
  const [early, setEarly] = useState(false);
  const box = useRef<HTMLTextAreaElement>(null);
  const boxId = useId();
  const helpId = useId();
  const { text } = model.draft;
  const max = dialog.max_characters;
  const count = countCharacters(text);
  const turn = mayWrite(model);
  const sendable = turn && fits(text, max);

  useEffect(() => setEarly(false), [turn]);
  useEffect(() => {
    // On a touch screen the focus would open the keyboard over what is to be read first.
    if (window.matchMedia("(pointer: fine)").matches) box.current?.focus();
  }, []);

  const send = () => {
    if (sendable) actions.submit();
    else setEarly(!dialog.your_turn && text !== "");
    box.current?.focus();
  };
  const problem = model.refused
    ? refusalText(locale, model.refused)
    : early
      ? t.refusals.not_your_turn
      : count > max
        ? t.chat.tooLong(count - max)
        : null;
  return (
    <form
      class={dialog.your_turn ? "composer" : "composer composer-waiting"}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <label class="unseen" for={boxId}>
        {t.chat.box}
      </label>
      <div class="composer-row">
        <textarea
          ref={box}
          id={boxId}
          class="box"
          data-testid="box"
          dir={text === "" ? undefined : "auto"}
          rows={2}
          value={text}
          placeholder={placeholder(dialog, t.chat.placeholder)}
          aria-describedby={`${NOW_LINE_ID} ${helpId}`}
          aria-invalid={problem !== null && !early}
          autocomplete="off"
          onInput={(event) => {
            const kind = event.inputType ?? "";
            actions.typed(event.currentTarget.value, {
              pasted: kind === "insertFromPaste" || kind === "insertFromDrop",
              removed: kind.startsWith("delete"),
            });
          }}
          onKeyDown={(event) => {
            // While an input method composes a character, Enter belongs to it.
            if (event.key !== "Enter" || event.isComposing) return;
            event.preventDefault();
            send();
          }}
        />
        <Button testid="send" look="main" unavailable={!sendable} label={t.chat.send} onPress={send}>
          <Icon name="send" />
          <span class="wide-only">{t.chat.send}</span>
        </Button>
      </div>
      <div class="composer-help" id={helpId}>
        <p role="alert" class="composer-problem" dir="auto" data-testid="refusal">
          {problem}
        </p>
        <p class={count > max * NEARLY_FULL ? "count count-high" : "count"} data-testid="count">
          <span aria-hidden="true">
            {count}/{max}
          </span>
          <span class="unseen">{t.chat.count(count, max)}</span>
        </p>
      </div>
    </form>
  );
}

function placeholder(
  dialog: Dialog,
  texts: Record<"questioner" | "answerer" | "solo" | "wait", string>,
): string {
  if (!dialog.your_turn) return texts.wait;
  const telling = dialog.phase === "solo" && dialog.role === "answerer" && openQuestion(dialog) === null;
  return telling ? texts.solo : texts[dialog.role];
}
