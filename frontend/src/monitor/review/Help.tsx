/** The keys of the review queue. */

import { COMMANDS, type Command } from "../keys";
import { Modal } from "../parts/Modal";
import { t } from "../texts";

const ALSO: Partial<Record<Command, string>> = { next: "Space" };

export function Help({ onClose }: { onClose: () => void }) {
  const commands = Object.keys(COMMANDS) as Command[];
  return (
    <Modal title={t.review.keys} testid="keys" onClose={onClose}>
      <dl class="keys">
        {commands.map((command) => (
          <div key={command}>
            <dt>
              <kbd>{COMMANDS[command]}</kbd>
              {ALSO[command] && <kbd>{ALSO[command]}</kbd>}
            </dt>
            <dd>{t.keys[command]}</dd>
          </div>
        ))}
      </dl>
      <p class="muted small">{t.review.keysNote}</p>
      <div class="ask-buttons">
        <button type="button" class="button button-main" data-testid="keys-close" onClick={onClose}>
          {t.common.close}
        </button>
      </div>
    </Modal>
  );
}
