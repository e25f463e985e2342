/** The picture in place, and over the whole page when it is pressed. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ItemOut } from "../../generated/wire";
import { useLocale } from "../context";
import { Button } from "../parts/Button";
import { Icon } from "../parts/Icon";
import { Modal } from "../parts/Modal";
import { Note } from "../parts/Note";

interface Props {
  item: ItemOut;
  address: string;
}

export function Picture({ item, address }: Props) {
  const { t } = useLocale();
  const [open, setOpen] = useState(false);
  const [broken, setBroken] = useState(false);
  const alt = item.blurred ? t.chat.blurredAlt : t.chat.imageAlt;
  if (broken) {
    return (
      <Note tone="bad" urgent testid="picture-failed">
        <p>{t.chat.pictureFailed}</p>
        <Button testid="picture-retry" onPress={() => setBroken(false)}>
          {t.common.tryAgain}
        </Button>
      </Note>
    );
  }
  return (
    <>
      <button
        type="button"
        class="picture"
        data-testid="zoom-open"
        aria-label={`${alt}. ${t.chat.zoom}`}
        onClick={() => setOpen(true)}
      >
        <img
          src={address}
          alt=""
          width={item.width ?? undefined}
          height={item.height ?? undefined}
          data-testid="picture"
          onError={() => setBroken(true)}
        />
        <span class="picture-zoom">
          <Icon name="zoom" />
        </span>
      </button>
      {open && <Zoom address={address} alt={alt} onClose={() => setOpen(false)} />}
    </>
  );
}

const LARGEST = 4;

/** The middle of what is seen, as shares of the whole; it stays the middle in another size. */
function centreOf(box: HTMLElement): { x: number; y: number } {
  return {
    x: (box.scrollLeft + box.clientWidth / 2) / box.scrollWidth,
    y: (box.scrollTop + box.clientHeight / 2) / box.scrollHeight,
  };
}

function Zoom({ address, alt, onClose }: { address: string; alt: string; onClose: () => void }) {
  const { t } = useLocale();
  const [level, setLevel] = useState(1);
  const field = useRef<HTMLDivElement>(null);
  const centre = useRef({ x: 0.5, y: 0.5 });
  const change = (by: number) => {
    if (field.current !== null) centre.current = centreOf(field.current);
    setLevel((now) => Math.min(LARGEST, Math.max(1, now + by)));
  };
  useLayoutEffect(() => {
    const box = field.current;
    if (box === null) return;
    const { x, y } = centre.current;
    box.scrollTo(x * box.scrollWidth - box.clientWidth / 2, y * box.scrollHeight - box.clientHeight / 2);
  }, [level]);
  const tools = (
    <div class="zoom-tools">
      <Button testid="zoom-out" unavailable={level === 1} label={t.chat.zoomOut} onPress={() => change(-1)}>
        <Icon name="minus" />
        <span class="wide-only">{t.chat.zoomOut}</span>
      </Button>
      <Button testid="zoom-in" unavailable={level === LARGEST} label={t.chat.zoomIn} onPress={() => change(1)}>
        <Icon name="plus" />
        <span class="wide-only">{t.chat.zoomIn}</span>
      </Button>
    </div>
  );
  return (
    <Modal title={t.chat.caption} testid="zoom" wide tools={tools} onClose={onClose}>
      {/* The keyboard scrolls the enlarged picture with the arrows and sizes it with + and −. */}
      <div
        ref={field}
        class="zoom-field"
        tabIndex={0}
        autoFocus
        role="group"
        aria-label={alt}
        onKeyDown={(event) => {
          if (event.key === "+" || event.key === "=") change(1);
          if (event.key === "-") change(-1);
        }}
      >
        <img class={`zoom-image zoom-${level}`} src={address} alt={alt} data-testid="zoom-picture" />
      </div>
    </Modal>
  );
}
