/** What was said and what happened; it follows its end unless somebody reads further up. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { DialogOut, Entry, FindingOut } from "../../generated/monitor";
import { isTyping, linesOf, type Line, type Watched } from "../dialog";
import { spanOf } from "../format";
import { Button } from "../parts/Button";
import { Empty } from "../parts/Loaded";
import { FlagPill, RolePill } from "../parts/Pill";
import { At, useTime } from "../parts/Time";
import { nameOf, t } from "../texts";

interface Props {
  dialog: DialogOut;
  /** Who writes, where the dialog is followed live. */
  watched?: Watched | null;
  /** The round that a reviewer has moved to. */
  round?: number;
}

/** Pixels from the end within which a reader counts as following it. */
const NEAR_END = 80;

export function Transcript({ dialog, watched = null, round = 0 }: Props) {
  const { lines, general } = linesOf(dialog);
  const view = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const following = useRef(watched !== null);
  const [away, setAway] = useState(false);
  const toEnd = () => view.current?.scrollTo({ top: view.current.scrollHeight });
  const live = watched !== null && dialog.standing.phase !== "ended";

  useEffect(() => {
    if (view.current === null || content.current === null || watched === null) return;
    const sized = new ResizeObserver(() => following.current && toEnd());
    sized.observe(view.current);
    sized.observe(content.current);
    return () => sized.disconnect();
  }, [watched === null]);
  useLayoutEffect(() => {
    if (round > 0) view.current?.querySelector("[data-now]")?.scrollIntoView({ block: "nearest" });
  }, [round]);

  return (
    <div class="transcript-place">
      <div
        ref={view}
        class="transcript"
        tabIndex={0}
        role="group"
        aria-label={t.talk.transcript}
        onScroll={({ currentTarget: box }) => {
          if (watched === null) return;
          following.current = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_END;
          setAway(!following.current);
        }}
      >
        <div ref={content}>
          {general.length > 0 && (
            <ul class="flags" aria-label={t.talk.flags}>
              {general.map((finding) => (
                <FlagLine key={finding.number} finding={finding} />
              ))}
            </ul>
          )}
          {lines.length === 0 && <Empty>{t.talk.empty}</Empty>}
          <div {...(live && { role: "log", "aria-label": t.talk.transcript })}>
            <ol class="lines" data-testid="transcript">
              {lines.map((line) =>
                line.entry.kind === "said" ? (
                  <Said key={line.entry.seq} line={line} now={round > 0 && line.entry.round === round} />
                ) : (
                  <Quiet key={line.entry.seq} line={line} />
                ),
              )}
            </ol>
          </div>
          {watched !== null && <Typing watched={watched} />}
        </div>
      </div>
      {away && (
        <div class="to-end">
          <Button testid="to-end" onPress={toEnd}>
            {t.talk.toEnd}
          </Button>
        </div>
      )}
    </div>
  );
}

function Said({ line: { entry, after, findings }, now }: { line: Line; now: boolean }) {
  const role = entry.role ?? "questioner";
  return (
    <li class={`said said-${role}${now ? " said-now" : ""}`} data-now={now || undefined}>
      <p class="said-head">
        <b class={`role-${role}`}>{t.roles[role]}</b>
        {entry.round !== null && entry.round !== undefined && <span class="muted num">{t.talk.round(entry.round)}</span>}
        <span class="muted num">
          <At at={entry.at} seconds />
          {after !== null && ` · ${t.talk.after(spanOf(after))}`}
        </span>
        <Marks entry={entry} />
      </p>
      <p class="said-text" dir="auto">
        {entry.text}
      </p>
      {findings.length > 0 && (
        <ul class="flags">
          {findings.map((finding) => (
            <FlagLine key={finding.number} finding={finding} beside />
          ))}
        </ul>
      )}
    </li>
  );
}

/** How the message came about. */
function Marks({ entry }: { entry: Entry }) {
  return (
    <>
      {entry.pasted && <span class="mark mark-warn">{t.talk.pasted}</span>}
      {entry.composed_ms != null && <span class="mark num">{t.talk.composed(spanOf(entry.composed_ms / 1_000))}</span>}
      {(entry.edits ?? 0) > 0 && <span class="mark num">{t.talk.edits(entry.edits ?? 0)}</span>}
    </>
  );
}

/** Everything but a message: a quiet line. */
function Quiet({ line: { entry, findings } }: { line: Line }) {
  return (
    <li class={`quiet quiet-${entry.kind}`}>
      <At at={entry.at} seconds /> <span>{happening(entry)}</span>
      {entry.text && (
        <>
          {" "}
          <q dir="auto">{entry.text}</q>
        </>
      )}
      {findings.map((finding) => (
        <FlagLine key={finding.number} finding={finding} />
      ))}
    </li>
  );
}

function happening(entry: Entry): string {
  const who = entry.role ? t.roles[entry.role] : t.talk.both;
  switch (entry.kind) {
    case "opened":
      return t.talk.opened;
    case "away":
      return t.talk.away(who);
    case "returned":
      return t.talk.returned(who);
    case "seat_lost":
      return t.talk.seatLost(who, nameOf(entry.why ?? ""));
    case "told":
      return t.talk.told(who);
    case "extended":
      return t.talk.extended(spanOf(entry.seconds ?? 0));
    case "ended":
      return t.talk.ended(entry.why ?? "");
    case "said":
      return "";
  }
}

/** `beside` what it is about, whose it is need not be said. */
function FlagLine({ finding, beside = false }: { finding: FindingOut; beside?: boolean }) {
  return (
    <li class="flag-line">
      <FlagPill flag={finding.flag} />
      {finding.role !== null && !beside && <RolePill role={finding.role} />}
      <span dir="auto">{finding.reason}</span>
      {finding.by !== null && <span class="muted">{t.talk.by(finding.by)}</span>}
    </li>
  );
}

function Typing({ watched }: { watched: Watched }) {
  const now = useTime(1);
  const who = (["questioner", "answerer"] as const).filter((role) => isTyping(watched, role, now));
  return <p class="typing">{who.map((role) => t.talk.typing(t.roles[role])).join(" ")}</p>;
}
