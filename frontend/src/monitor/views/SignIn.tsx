/** Signing in; whoever guesses is made to wait, and is told how long. */

import { useEffect, useState } from "preact/hooks";
import type { Me } from "../../generated/monitor";
import { useAct } from "../act";
import type { Api } from "../api";
import { spanOf } from "../format";
import { TextField } from "../parts/fields";
import { Problem } from "../parts/Modal";
import { t } from "../texts";

interface Props {
  api: Api;
  onEnter: (me: Me) => void;
}

export function SignInView({ api, onEnter }: Props) {
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [wait, setWait] = useState(0);
  const [study, setStudy] = useState("");
  const act = useAct();
  useEffect(() => {
    document.title = t.signIn.windowTitle;
    void api.title().then(setStudy);
  }, []);
  useEffect(() => {
    if (wait <= 0) return;
    const timer = setTimeout(() => setWait(wait - 1), 1_000);
    return () => clearTimeout(timer);
  }, [wait]);

  const submit = () => {
    if (name.trim() === "" || password === "") return act.refuse(t.signIn.both);
    void act.run(async () => {
      const answer = await api.signIn({ name: name.trim(), password });
      if (!answer.ok && answer.status === 429) setWait(Math.ceil(answer.retryAfter ?? 0));
      return answer;
    }, onEnter);
  };
  const off = act.busy || wait > 0;
  return (
    <main class="door">
      <h1>{t.signIn.title}</h1>
      <p class="muted" dir="auto">{t.signIn.what(study)}</p>
      <form
        class="ask"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (!off) submit();
        }}
      >
        <TextField label={t.signIn.name} testid="name" value={name} onInput={setName} complete="username" max={100} first />
        <TextField
          label={t.signIn.password}
          testid="password"
          type="password"
          value={password}
          onInput={setPassword}
          complete="current-password"
        />
        <Problem text={act.error} />
        {wait > 0 && <p class="field-hint num">{t.signIn.wait(spanOf(wait))}</p>}
        <button type="submit" class="button button-main" data-testid="sign-in" aria-disabled={off} aria-busy={act.busy}>
          {act.busy ? t.common.working : t.signIn.enter}
        </button>
      </form>
      <p class="muted small">{t.signIn.help}</p>
    </main>
  );
}
