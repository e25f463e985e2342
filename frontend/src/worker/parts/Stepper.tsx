/** Where in the way to the first conversation the worker is. */

import { useLocale } from "../context";

export interface StepPlace {
  step: number;
  of: number;
}

export function Stepper({ step, of }: StepPlace) {
  const { t } = useLocale();
  return (
    <div class="stepper">
      <span>{t.common.step(step, of)}</span>
      <span class="dots" aria-hidden="true">
        {Array.from({ length: of }, (_, index) => (
          <span key={index} class={index < step ? "dot dot-done" : "dot"} />
        ))}
      </span>
    </div>
  );
}
