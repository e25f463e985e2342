/** Both roles, the manners and the time limits, with an example of a good dialog. */

import type { ComponentChildren } from "preact";
import { useLocale, useStudy } from "../context";
import { Button } from "../parts/Button";
import { Failure } from "../parts/Note";
import { Page } from "../parts/Page";
import { RoleCards } from "../parts/RoleCards";
import { PayOfLeavers } from "../parts/PayOfLeavers";
import { Stepper, type StepPlace } from "../parts/Stepper";
import type { Attempt } from "../context";

interface Props {
  place: StepPlace;
  /** The arrival is made right after this screen when there is no check. */
  attempt: Attempt | null;
  onNext: () => void;
  onBack: () => void;
}

export function Instructions({ place, attempt, onNext, onBack }: Props) {
  const { t, span, pay } = useLocale();
  const study = useStudy();
  const blurred = study.protocol === "visdial-blurred";
  return (
    <Page screen="instructions" title={t.instructions.title} above={<Stepper {...place} />}>
      <p class="lead">{t.instructions.intro}</p>
      <h2>{t.instructions.rolesTitle}</h2>
      <RoleCards
        questioner={
          <>
            <p>{blurred ? t.preview.questionerBlurred(study.rounds) : t.preview.questioner(study.rounds)}</p>
            <Tips tips={t.instructions.questionerTips} />
          </>
        }
        answerer={
          <>
            <p>{t.preview.answerer}</p>
            <Tips tips={t.instructions.answererTips} />
          </>
        }
      />
      <h2>{t.instructions.bothTitle}</h2>
      <ul class="ticks">
        {t.instructions.both.map((tip) => (
          <li key={tip}>{tip}</li>
        ))}
        <li>{t.instructions.times(span(study.turn_limit_s), span(study.grace_s))}</li>
      </ul>
      <h2>{t.instructions.leavingTitle}</h2>
      <ul class="ticks" data-testid="about-leaving">
        <li>{t.instructions.partnerLeaves(pay(study.pays, study.currency))}</li>
        <li class="ticks-not">
          <PayOfLeavers />
        </li>
      </ul>
      <h2>{t.instructions.exampleTitle}</h2>
      <ExampleDialog blurred={blurred} />
      {attempt && <Failure attempt={attempt} />}
      <div class="actions">
        <Button testid="back" onPress={onBack}>
          {t.common.back}
        </Button>
        <Button
          testid="instructions-next"
          look="main"
          busy={attempt?.busy ?? false}
          onPress={onNext}
        >
          {t.common.next}
        </Button>
      </div>
    </Page>
  );
}

function Tips({ tips }: { tips: readonly string[] }) {
  return (
    <ul class="tips">
      {tips.map((tip) => (
        <li key={tip}>{tip}</li>
      ))}
    </ul>
  );
}

function ExampleDialog({ blurred }: { blurred: boolean }) {
  const { t } = useLocale();
  const { example } = useStudy();
  return (
    <div class="example" data-testid="example">
      <div class="caption">
        <p class="caption-name">
          {blurred ? t.instructions.exampleBlurred : t.instructions.exampleCaption}
        </p>
        <p dir="auto">{example.caption}</p>
      </div>
      <ol class="example-talk">
        {example.rounds.map(([question, answer], index) => (
          <li key={index}>
            <Line who={t.roles.questioner} look="questioner">
              {String(question)}
            </Line>
            <Line who={t.roles.answerer} look="answerer">
              {String(answer)}
            </Line>
          </li>
        ))}
      </ol>
    </div>
  );
}

function Line(props: { who: string; look: string; children: ComponentChildren }) {
  return (
    <p class={`bubble bubble-${props.look}`}>
      <span class="bubble-who">{props.who}</span>
      <span class="bubble-text" dir="auto">
        {props.children}
      </span>
    </p>
  );
}
