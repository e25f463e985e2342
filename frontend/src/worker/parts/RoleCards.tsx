/** The two roles side by side, with what each is to do. */

import type { ComponentChildren } from "preact";
import type { Role } from "../../generated/wire";
import { useLocale } from "../context";
import { Icon } from "./Icon";

const ICONS = { questioner: "ask", answerer: "answer" } as const;

export function RoleCards(props: { questioner: ComponentChildren; answerer: ComponentChildren }) {
  return (
    <div class="roles">
      <RoleCard role="questioner">{props.questioner}</RoleCard>
      <RoleCard role="answerer">{props.answerer}</RoleCard>
    </div>
  );
}

function RoleCard({ role, children }: { role: Role; children: ComponentChildren }) {
  const { t } = useLocale();
  return (
    <section class={`role role-${role}`}>
      <h3>
        <Icon name={ICONS[role]} />
        {t.roles[role]}
      </h3>
      {children}
    </section>
  );
}

export function RoleBadge({ role }: { role: Role }) {
  const { t } = useLocale();
  return (
    <span class={`badge badge-${role}`} data-testid="role" data-role={role}>
      <Icon name={ICONS[role]} />
      {t.roles[role]}
    </span>
  );
}
