/** From the preview to the token: consent, instructions, and the check if the study has one. */

import { useState } from "preact/hooks";
import type { StudyOut } from "../generated/wire";
import type { Reply } from "./connection";
import { useAttempt } from "./context";
import { Check } from "./screens/Check";
import { Consent } from "./screens/Consent";
import { Instructions } from "./screens/Instructions";
import { Preview } from "./screens/Preview";

export type StepName = "preview" | "consent" | "instructions" | "check";

interface Props {
  study: StudyOut;
  first?: StepName;
  /** Asks for the arrival; what comes after a yes is not this component's business. */
  arrive: (answers: number[]) => Promise<Reply>;
}

export function stepsOf(study: StudyOut): StepName[] {
  const steps: StepName[] = ["preview"];
  if (study.consent.trim() !== "") steps.push("consent");
  steps.push("instructions");
  if (study.check.length > 0) steps.push("check");
  return steps;
}

export function Onboarding({ study, first = "preview", arrive }: Props) {
  const steps = stepsOf(study);
  const [at, setAt] = useState(Math.max(0, steps.indexOf(first)));
  const [answers, setAnswers] = useState<(number | null)[]>(study.check.map(() => null));
  const attempt = useAttempt(() => arrive(answers.map((answer) => answer ?? -1)));
  const last = at === steps.length - 1;
  const place = { step: at, of: steps.length - 1 };
  const next = () => (last ? attempt.go() : setAt(at + 1));
  const back = () => setAt(at - 1);
  switch (steps[at]) {
    case "consent":
      return <Consent place={place} onAgree={next} onBack={back} />;
    case "instructions":
      return (
        <Instructions place={place} attempt={last ? attempt : null} onNext={next} onBack={back} />
      );
    case "check":
      return (
        <Check
          place={place}
          attempt={attempt}
          answers={answers}
          onAnswer={(question, option) =>
            setAnswers((all) => all.map((known, index) => (index === question ? option : known)))
          }
          onBack={back}
        />
      );
    default:
      return <Preview onBegin={next} />;
  }
}
