/** What was said so far; new messages are read out, and the newest stays in view. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Dialog, MessageOut } from "../../generated/wire";
import { useActions, useLocale, useServerTime } from "../context";
import { entries, type Entry } from "../machine/dialog";
import type { Model, Pending } from "../machine/model";
import { Icon } from "../parts/Icon";
import { Notices } from "./Notices";

interface Props {
  dialog: Dialog;
  model: Model;
}

/** Pixels from the end within which a reader counts as following the conversation. */
const NEAR_END = 120;

/** More than this many pixels out of sight below are worth a button. */
const WORTH_A_BUTTON = 24;

/** How many pixels are out of sight below. */
const below = (box: HTMLElement) => box.scrollHeight - box.scrollTop - box.clientHeight;

const sizesOf = (box: HTMLElement) => ({ view: box.clientHeight, content: box.scrollHeight });

export function Conversation({ dialog, model }: Props) {
  const { t } = useLocale();
  const shown = entries(dialog);
  const view = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const following = useRef(true);
  const sizes = useRef({ view: 0, content: 0 });
  const notices = useRef<HTMLDivElement>(null);
  const [more, setMore] = useState(false);
  const toEnd = () => {
    if (view.current === null || notices.current === null) return;
    // Of a notice that is taller than the view, the beginning matters most.
    const tall = notices.current.offsetHeight > view.current.clientHeight;
    view.current.scrollTo({ top: tall ? notices.current.offsetTop : view.current.scrollHeight });
  };
  useLayoutEffect(() => {
    if (model.pending !== null) toEnd();
  }, [model.pending?.key]);
  useEffect(() => {
    // A message or a notice adds to the content; the box or a phone's keyboard takes from the view.
    if (view.current === null || content.current === null) return;
    const box = view.current;
    const observer = new ResizeObserver(() => {
      sizes.current = sizesOf(box);
      if (following.current) toEnd();
      setMore(below(box) > WORTH_A_BUTTON);
    });
    observer.observe(view.current);
    observer.observe(content.current);
    return () => observer.disconnect();
  }, []);
  return (
    <div class="view-place">
      <div
        ref={view}
        class="view"
        role="group"
        aria-label={t.chat.log}
        tabIndex={0}
        onScroll={({ currentTarget: box }) => {
          // What moves with a size is not the reader's doing, and the observer is about to follow.
          const { view: height, content: whole } = sizesOf(box);
          if (height !== sizes.current.view || whole !== sizes.current.content) return;
          following.current = below(box) < NEAR_END;
          setMore(below(box) > WORTH_A_BUTTON);
        }}
      >
        <div ref={content} class="view-content">
          <div class="log" role="log" aria-label={t.chat.log} aria-live="polite" data-testid="log">
            {shown.length === 0 && model.pending === null && (
              <p class="log-empty">{t.chat.empty[dialog.role]}</p>
            )}
            {shown.map((entry) => (
              <Shown key={entry.seq} entry={entry} dialog={dialog} />
            ))}
            {model.pending !== null && (
              <OnItsWay pending={model.pending} dialog={dialog} model={model} />
            )}
            <Typing model={model} dialog={dialog} />
          </div>
          <div ref={notices} class="notices">
            <Notices dialog={dialog} />
          </div>
        </div>
      </div>
      {more && (
        <button
          type="button"
          class="button button-plain to-end"
          data-testid="to-end"
          aria-label={t.chat.toEnd}
          onClick={() => view.current?.scrollTo({ top: view.current.scrollHeight })}
        >
          <Icon name="down" />
        </button>
      )}
    </div>
  );
}

/** One thing in the conversation: what was said in it, or what the team did. */
export function Shown({ entry, dialog }: { entry: Entry; dialog: Dialog }) {
  const { t } = useLocale();
  if (entry.kind === "said") return <Said message={entry.message} dialog={dialog} />;
  if (entry.kind === "extended") {
    return (
      <p class="more-time" data-testid="more-time" data-seq={entry.seq}>
        <Icon name="clock" />
        <span>{t.chat.moreTime}</span>
      </p>
    );
  }
  return (
    <div class="team" data-testid="team-message" data-seq={entry.seq}>
      <p class="bubble-who">{t.chat.team}</p>
      <p class="bubble-text" dir="auto">
        {entry.text}
      </p>
    </div>
  );
}

/** One stored message. */
function Said({ message, dialog }: { message: MessageOut; dialog: Dialog }) {
  const { t } = useLocale();
  const own = message.role === dialog.role;
  return (
    <div
      class={`bubble bubble-${message.role} ${own ? "bubble-own" : "bubble-theirs"}`}
      data-testid="message"
      data-seq={message.seq}
      data-role={message.role}
      data-own={own}
    >
      <p class="bubble-who">
        {own ? t.chat.you : t.chat.partner} · <Label message={message} dialog={dialog} />
      </p>
      {message.parts.map((part, index) => (
        <p key={index} class="bubble-text" dir="auto">
          {part.text}
        </p>
      ))}
    </div>
  );
}

/** An answerer who has been left alone states facts: such a round has no question. */
function Label({ message, dialog }: { message: MessageOut; dialog: Dialog }) {
  const { t } = useLocale();
  const { round, role } = message;
  if (role === "questioner") return <>{t.chat.question(round)}</>;
  const asked = dialog.messages.some((m) => m.role === "questioner" && m.round === round);
  return <>{asked ? t.chat.answer(round) : t.chat.fact(round)}</>;
}

function OnItsWay({ pending, dialog, model }: { pending: Pending; dialog: Dialog; model: Model }) {
  const { t } = useLocale();
  const { retry } = useActions();
  const offline = model.link !== "online";
  const unsent = pending.status === "unsent";
  const status = unsent
    ? offline
      ? t.chat.unsentOffline
      : t.chat.unsent
    : pending.status === "sent"
      ? t.chat.sent
      : t.chat.sending;
  return (
    <div
      class={`bubble bubble-${dialog.role} bubble-own bubble-pending`}
      data-testid="pending"
      data-status={pending.status}
    >
      <p class="bubble-who">{t.chat.you}</p>
      <p class="bubble-text" dir="auto">
        {pending.text}
      </p>
      <p class={unsent && !offline ? "bubble-status bubble-unsent" : "bubble-status"}>
        {status}
        {unsent && !offline && (
          <button type="button" class="button button-plain" data-testid="retry" onClick={retry}>
            {t.chat.retry}
          </button>
        )}
      </p>
    </div>
  );
}

function Typing({ model, dialog }: { model: Model; dialog: Dialog }) {
  const { t } = useLocale();
  const pageTime = useServerTime() - model.clock;
  const there = dialog.phase === "paired" && dialog.partner.present;
  const typing = there && model.typingUntil > pageTime;
  if (!typing) return null;
  return (
    <p class="typing" data-testid="partner-typing">
      <span class="typing-dots" aria-hidden="true">
        <span />
        <span />
        <span />
      </span>
      {t.chat.typing}
    </p>
  );
}
