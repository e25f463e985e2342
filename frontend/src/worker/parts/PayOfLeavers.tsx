/** What leaving in the middle means: for the pay, or where nothing is paid for the partner. */

import { useLocale, useStudy } from "../context";

export function PayOfLeavers() {
  const { t, money } = useLocale();
  const study = useStudy();
  if (study.pays === 0) return <>{t.preview.unpaidLeave}</>;
  const share = study.leaving_pays > 0 ? ` ${t.leave.paid(money(study.leaving_pays, study.currency))}` : "";
  return <>{t.preview.payLeave + share}</>;
}
