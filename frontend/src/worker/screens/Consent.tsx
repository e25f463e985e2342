/** The team's consent text, and the one button that agrees to it. */

import { useLocale, useStudy } from "../context";
import { Button } from "../parts/Button";
import { Page } from "../parts/Page";
import { Paragraphs } from "../parts/Paragraphs";
import { Stepper, type StepPlace } from "../parts/Stepper";

interface Props {
  place: StepPlace;
  onAgree: () => void;
  onBack: () => void;
}

export function Consent({ place, onAgree, onBack }: Props) {
  const { t } = useLocale();
  const study = useStudy();
  return (
    <Page screen="consent" title={t.consent.title} above={<Stepper {...place} />}>
      <div class="prose">
        <Paragraphs text={study.consent} />
      </div>
      <div class="actions">
        <Button testid="back" onPress={onBack}>
          {t.common.back}
        </Button>
        <Button testid="agree" look="main" onPress={onAgree}>
          {t.consent.agree}
        </Button>
      </div>
    </Page>
  );
}
