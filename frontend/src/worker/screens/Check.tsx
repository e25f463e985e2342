/** A few questions about the instructions; only the server knows the right answers. */

import { useState } from "preact/hooks";
import type { CheckQuestion, WrongAnswersOut } from "../../generated/wire";
import { useLocale, useStudy, type Attempt } from "../context";
import { Button } from "../parts/Button";
import { Failure, Note } from "../parts/Note";
import { Page } from "../parts/Page";
import { Stepper, type StepPlace } from "../parts/Stepper";

interface Props {
  place: StepPlace;
  attempt: Attempt;
  answers: readonly (number | null)[];
  onAnswer: (question: number, option: number) => void;
  onBack: () => void;
}

export function Check({ place, attempt, answers, onAnswer, onBack }: Props) {
  const { t } = useLocale();
  const study = useStudy();
  const [incomplete, setIncomplete] = useState(false);
  const [submitted, setSubmitted] = useState(answers);
  const wrong = wrongQuestions(attempt);
  const submit = () => {
    const missing = answers.some((answer) => answer === null);
    setIncomplete(missing);
    if (missing) return;
    setSubmitted(answers);
    attempt.go();
  };
  return (
    <Page screen="check" title={t.check.title} above={<Stepper {...place} />}>
      <p class="lead">{t.check.intro}</p>
      {study.check.map((question, index) => (
        <Question
          key={question.question}
          index={index}
          of={study.check.length}
          question={question}
          answer={answers[index] ?? null}
          again={wrong.includes(index + 1) && answers[index] === submitted[index]}
          onAnswer={(option) => onAnswer(index, option)}
        />
      ))}
      {incomplete && (
        <Note tone="warn" urgent testid="check-incomplete">
          <p>{t.check.unanswered}</p>
        </Note>
      )}
      <Failure attempt={attempt} />
      <div class="actions">
        <Button testid="back" onPress={onBack}>
          {t.check.reread}
        </Button>
        <Button testid="check-submit" look="main" busy={attempt.busy} onPress={submit}>
          {t.check.submit}
        </Button>
      </div>
    </Page>
  );
}

/** The numbers, from 1, of the questions that the server found answered wrongly. */
function wrongQuestions({ failed }: Attempt): readonly number[] {
  const refused: Partial<WrongAnswersOut> = failed?.refused ?? {};
  return refused.questions ?? [];
}

interface QuestionProps {
  index: number;
  of: number;
  question: CheckQuestion;
  answer: number | null;
  /** The answer was wrong and still stands. */
  again: boolean;
  onAnswer: (option: number) => void;
}

function Question({ index, of, question, answer, again, onAnswer }: QuestionProps) {
  const { t } = useLocale();
  return (
    <fieldset
      class={again ? "question question-again" : "question"}
      data-testid="check-question"
      data-again={again}
    >
      <legend>
        <span class="muted small">{t.check.question(index + 1, of)}</span>
        <span class="question-text" dir="auto">
          {question.question}
        </span>
        {again && <span class="question-word">{t.check.again}</span>}
      </legend>
      {question.options.map((option, number) => (
        <label key={option} class="option">
          <input
            type="radio"
            name={`check-${index}`}
            data-testid="check-option"
            checked={answer === number}
            onChange={() => onAnswer(number)}
          />
          <span dir="auto">{option}</span>
        </label>
      ))}
    </fieldset>
  );
}
