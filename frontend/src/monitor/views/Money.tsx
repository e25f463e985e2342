/** The HITs, the payments, and what was relaunched. */

import { useMonitor } from "../context";
import { Chains } from "../money/Chains";
import { Hits } from "../money/Hits";
import { Ledger } from "../money/Ledger";
import { Head } from "../parts/Head";
import { t } from "../texts";

export function MoneyView() {
  const { me } = useMonitor();
  return (
    <>
      <Head title={t.views.money} />
      <div class="money-page">
        <Ledger />
        {me.study.posts && <Hits />}
        <Chains />
      </div>
    </>
  );
}
