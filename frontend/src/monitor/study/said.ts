/** What an action of the log did, in words beside the action's name; null for one whose fields say it. */

import type { AuditRow } from "../../generated/monitor";
import { t } from "../texts";

type Fields = Readonly<Record<string, unknown>>;

export function saidOf(row: AuditRow, cash: (cents: number) => string): string[] | null {
  const after = parsed(row.after);
  if (after === null) return null;
  const amounts = (of: unknown) => Object.values(isFields(of) ? of : {}).filter((each) => typeof each === "number");
  const sum = (of: unknown) => cash(amounts(of).reduce((all, cents) => all + cents, 0));
  switch (row.action) {
    case "dialog.end":
      return [endPay(after.cents, cash), t.log.said.reasonThere];
    case "review.judge":
      return [
        verdict(after),
        ...(amounts(after.approved).length > 0 ? [t.log.said.approved(sum(after.approved))] : []),
        ...(amounts(after.taken_back).length > 0 ? [t.log.said.refused(sum(after.taken_back))] : []),
        ...(after.verdict === "rejected" || amounts(after.taken_back).length > 0 ? [t.log.said.reasonThere] : []),
      ];
    case "review.undo": {
      const was = parsed(row.before);
      return was === null ? null : [t.log.said.undone(verdict(was))];
    }
    case "worker.exclude":
      return typeof after.why === "string" ? [after.why] : [];
    case "worker.allow":
      return [];
    case "ledger.approve":
      return typeof after.cents === "number" ? [t.log.said.payment(cash(after.cents), t.payments.reason(String(after.reason)))] : null;
    case "ledger.retry": {
      const was = parsed(row.before) ?? {};
      const why = typeof was.problem === "string" ? [was.problem] : [];
      return [t.log.said.again(t.payments.reason(String(was.reason))), ...why];
    }
    default:
      return null;
  }
}

function verdict(of: Fields): string {
  const said = of.verdict === "accepted" || of.verdict === "rejected" ? t.acceptances[of.verdict] : t.judgements.noVerdict;
  return of.second === true ? t.log.said.second(said) : said;
}

/** What the team gives whoever was still there; who is not named is paid in full. */
function endPay(cents: unknown, cash: (cents: number) => string): string {
  const own = Object.entries(isFields(cents) ? cents : {});
  if (own.length === 0) return t.log.said.inFull;
  const line = ([role, each]: [string, unknown]) => `${role === "answerer" ? t.roles.answerer : t.roles.questioner} ${cash(Number(each))}`;
  return t.log.said.paid(own.map(line).join(", "));
}

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);

function parsed(text: string | null): Fields | null {
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? value : null;
  } catch {
    return null;
  }
}
