/** The payments, what is asked of the recruiter, the HITs, and what was relaunched. */

import { useState } from "preact/hooks";
import { useMonitor } from "../context";
import { Chains } from "../money/Chains";
import { Hits } from "../money/Hits";
import { Ledger } from "../money/Ledger";
import { Requests } from "../money/Requests";
import { Head } from "../parts/Head";
import { useFilters } from "../parts/Pager";
import { t } from "../texts";

export function MoneyView() {
  const { me } = useMonitor();
  const [{ request_state: wanted }] = useFilters(["request_state"]);
  // Whoever is led here for requests finds them at the top, and nothing moves while they stay.
  const [first] = useState(wanted !== "");
  return (
    <>
      <Head title={t.views.money} />
      <div class="money-page">
        {first && <Requests />}
        <Ledger />
        {!first && <Requests />}
        {me.study.posts && <Hits />}
        <Chains />
      </div>
    </>
  );
}
