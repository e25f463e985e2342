/** Which language to read and to talk in; only where the study offers more than one. */

import { useId } from "preact/hooks";
import { languageName } from "../../texts";
import { useLocale } from "../context";

interface Props {
  offered: readonly string[];
  language: string;
  onChoose: (language: string) => void;
}

export function LanguageChooser({ offered, language, onChoose }: Props) {
  const { t } = useLocale();
  const id = useId();
  if (offered.length < 2) return null;
  return (
    <div class="language">
      <label class="unseen" for={id}>
        {t.common.language}
      </label>
      <select
        id={id}
        data-testid="language"
        value={language}
        onChange={(event) => onChoose(event.currentTarget.value)}
      >
        {offered.map((tag) => (
          <option key={tag} value={tag} lang={tag}>
            {languageName(tag)}
          </option>
        ))}
      </select>
    </div>
  );
}
