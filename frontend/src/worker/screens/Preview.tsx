/** What the work is and what it pays, before anybody takes a seat. */

import { useLocale, useStudy } from "../context";
import { Button } from "../parts/Button";
import { Icon, type IconName } from "../parts/Icon";
import { Note } from "../parts/Note";
import { Page } from "../parts/Page";
import { PayOfLeavers } from "../parts/PayOfLeavers";
import { Paragraphs } from "../parts/Paragraphs";
import { RoleCards } from "../parts/RoleCards";

export function Preview({ onBegin }: { onBegin: () => void }) {
  const { t, money, pay: payOf, span } = useLocale();
  const study = useStudy();
  const pay = payOf(study.pays, study.currency);
  const blurred = study.protocol === "visdial-blurred";
  const limit = span(study.lobby_limit_s);
  const wait =
    study.waiting_per_minute > 0
      ? t.preview.payWait(limit, money(study.waiting_per_minute, study.currency), money(study.pays, study.currency))
      : t.preview.payNoWait(limit, pay !== null);
  return (
    <Page screen="preview" title={study.title}>
      {study.paused && !study.preview && (
        <Note tone="warn" silent testid="paused">
          <p>{t.preview.paused}</p>
        </Note>
      )}
      <div class="lead">
        <Paragraphs text={study.description} />
      </div>
      <dl class="facts">
        {pay !== null && <Fact icon="coin" name={t.preview.youArePaid} value={pay} />}
        <Fact icon="clock" name={t.preview.itTakes} value={t.common.aboutMinutes(study.minutes)} />
        <Fact icon="pen" name={t.preview.youWrite} value={t.preview.messages(study.rounds)} />
      </dl>
      <h2>{t.preview.whatTitle}</h2>
      <p>{t.preview.what}</p>
      <RoleCards
        questioner={
          <p>{blurred ? t.preview.questionerBlurred(study.rounds) : t.preview.questioner(study.rounds)}</p>
        }
        answerer={<p>{t.preview.answerer}</p>}
      />
      <p class="muted">{t.preview.roleLater}</p>
      <h2>{pay === null ? t.preview.unpaidTitle : t.preview.payTitle}</h2>
      <ul class="ticks">
        {pay !== null && <li>{t.preview.payFull(pay, study.rounds)}</li>}
        <li>{t.preview.payAlone(pay)}</li>
        <li>{wait}</li>
        <li class="ticks-not">
          <PayOfLeavers />
        </li>
      </ul>
      <Begin onBegin={onBegin} />
    </Page>
  );
}

function Begin({ onBegin }: { onBegin: () => void }) {
  const { t } = useLocale();
  const study = useStudy();
  const why = study.preview ? t.preview.acceptFirst : study.paused ? t.preview.paused : null;
  return (
    <div class="finale">
      {why !== null && (
        <Note tone="warn" testid="begin-why-not">
          <p id="begin-why-not">{why}</p>
        </Note>
      )}
      <Button
        testid="begin"
        look="main"
        unavailable={why !== null}
        describedBy={why === null ? undefined : "begin-why-not"}
        onPress={onBegin}
      >
        {t.preview.begin}
      </Button>
    </div>
  );
}

function Fact({ icon, name, value }: { icon: IconName; name: string; value: string }) {
  return (
    <div class="fact">
      <dt>
        <Icon name={icon} />
        {name}
      </dt>
      <dd>{value}</dd>
    </div>
  );
}
