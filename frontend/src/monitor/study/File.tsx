/** The study file as it was read, section by section. */

import { t } from "../texts";

const isSection = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export function File({ file }: { file: Record<string, unknown> }) {
  const sections = Object.entries(file);
  return (
    <section class="panel" data-testid="file">
      <h2>{t.study.file}</h2>
      <p class="muted">{t.study.fileWhat}</p>
      <div class="file">
        {sections.map(([name, value]) => (
          <details key={name}>
            <summary>
              <code>{name}</code>
            </summary>
            {isSection(value) ? <Keys section={value} /> : <Value value={value} />}
          </details>
        ))}
      </div>
    </section>
  );
}

function Keys({ section }: { section: Record<string, unknown> }) {
  return (
    <dl class="file-keys">
      {Object.entries(section).map(([key, value]) => (
        <div key={key}>
          <dt>
            <code>{key}</code>
          </dt>
          <dd>{isSection(value) ? <Keys section={value} /> : <Value value={value} />}</dd>
        </div>
      ))}
    </dl>
  );
}

function Value({ value }: { value: unknown }) {
  if (value === null || value === undefined || value === "") return <span class="muted">{t.study.unset}</span>;
  if (typeof value === "boolean") return <span>{value ? t.study.yes : t.study.no}</span>;
  if (Array.isArray(value)) {
    if (value.length === 0) return <span class="muted">{t.study.unset}</span>;
    return (
      <ul class="plain">
        {value.map((each: unknown, index) => (
          <li key={index}>{isSection(each) ? <Keys section={each} /> : <Value value={each} />}</li>
        ))}
      </ul>
    );
  }
  return (
    <span class="file-text" dir="auto">
      {String(value)}
    </span>
  );
}
