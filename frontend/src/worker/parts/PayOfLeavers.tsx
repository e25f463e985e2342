/** What who leaves in the middle gives up, and what the study pays them all the same. */

import { useLocale, useStudy } from "../context";

export function PayOfLeavers() {
  const { t, money } = useLocale();
  const study = useStudy();
  const share = study.leaving_pays > 0 ? ` ${t.leave.paid(money(study.leaving_pays, study.currency))}` : "";
  return <>{t.preview.payLeave + share}</>;
}
