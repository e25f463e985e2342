/** Whom to write to, at the foot of every screen on which there is a study. */

import { useContext } from "preact/hooks";
import { StudyContext, useLocale } from "../context";

export function Contact() {
  const { t } = useLocale();
  const contact = useContext(StudyContext)?.contact ?? "";
  if (contact === "") return null;
  return (
    <p class="muted small">
      {t.common.contact} <bdi data-testid="page-contact">{contact}</bdi>
    </p>
  );
}
