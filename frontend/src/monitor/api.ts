/** The HTTP part: every answer is what was asked for, or one sentence that says why not. */

import type {
  AuditRows,
  ToldRows,
  BonusWish,
  Bulk,
  BulkDone,
  ChainRows,
  ChangeStudy,
  Chart,
  DialogOut,
  DialogRows,
  Done,
  End,
  Extend,
  Flag,
  Flags,
  HitRows,
  Judge,
  Judged,
  LedgerRows,
  Me,
  Note,
  Now,
  OnFailed,
  PaymentNames,
  RequestRows,
  ReviewNext,
  ReviewStats,
  SignedIn,
  SignIn,
  StudyOut,
  Tell,
  WorkerMessage,
  WorkerOut,
  WorkerRows,
} from "../generated/monitor";
import { hrefOf } from "./router";
import { t } from "./texts";

export type Answer<T> = { ok: true; value: T } | Failure;

/** `retryAfter` is in seconds, where the server says that it wants to be left alone for a time. */
export interface Failure {
  ok: false;
  status: number;
  error: string;
  code: string;
  retryAfter: number | null;
}

export type Query = Readonly<Record<string, string>>;

const WITHIN_MS = 20_000;
/** Before what may have been lost is sent once more. */
const PAUSE_MS = 1_000;
const at = (...parts: string[]): string => parts.map(encodeURIComponent).join("/");

export class Api {
  /** Called when the server no longer knows who this is. */
  onSignedOut: () => void = () => undefined;
  #csrf = "";
  #title = "";
  readonly #fetch: typeof fetch;
  readonly #pause: () => Promise<void>;

  constructor(
    fetcher: typeof fetch = (input, init) => fetch(input, init),
    pause = () => new Promise<void>((over) => setTimeout(over, PAUSE_MS)),
  ) {
    this.#fetch = fetcher;
    this.#pause = pause;
  }

  get csrf(): string {
    return this.#csrf;
  }

  async me(): Promise<Answer<Me>> {
    return this.#known(await this.#get<Me>("me"));
  }
  /** Who this browser is signed in as; null for nobody, which is no error. */
  async signedIn(): Promise<Answer<Me | null>> {
    const answer = await this.#ask<SignedIn>("/api/sign-in", {});
    if (!answer.ok) return answer;
    this.#title = answer.value.study;
    return answer.value.me === null ? { ok: true, value: null } : this.#known({ ok: true, value: answer.value.me });
  }
  /** What the study is called, for whoever is not signed in; empty where nobody answers. */
  async title(): Promise<string> {
    if (this.#title === "") await this.signedIn();
    return this.#title;
  }
  async signIn(who: SignIn): Promise<Answer<Me>> {
    return this.#known(await this.#ask<Me>("/api/sign-in", posted(who, "")));
  }
  signOut = () => this.#surely<Done>("sign-out", {});
  signOutEverywhere = () => this.#surely<Done>("sign-out-everywhere", {});

  now = () => this.#get<Now>("now");
  chart = (hours: number) => this.#get<Chart>("chart", { hours: String(hours) });
  dialogs = (query: Query) => this.#get<DialogRows>("dialogs", query);
  dialog = (id: string) => this.#get<DialogOut>(at("dialogs", id));
  workers = (query: Query) => this.#get<WorkerRows>("workers", query);
  worker = (id: string) => this.#get<WorkerOut>(at("workers", id));
  hits = (query: Query) => this.#get<HitRows>("hits", query);
  chains = (query: Query) => this.#get<ChainRows>("chains", query);
  ledger = (query: Query) => this.#get<LedgerRows>("ledger", query);
  requests = (query: Query) => this.#get<RequestRows>("requests", query);
  flags = () => this.#get<Flags>("flags");
  study = () => this.#get<StudyOut>("study");
  told = (query: Query) => this.#get<ToldRows>("told", query);
  audit = (query: Query) => this.#get<AuditRows>("audit", query);
  reviewStats = () => this.#get<ReviewStats>("review/stats");
  picture = (item: string): string => `/api/monitor/${at("items", item, "picture")}`;

  tell = (id: string, what: Tell) => this.#surely<Done>(at("dialogs", id, "message"), what);
  end = (id: string, what: End) => this.#surely<Done>(at("dialogs", id, "end"), what);
  extend = (id: string, what: Extend) => this.#surely<Done>(at("dialogs", id, "extend"), what);
  flag = (id: string, what: Flag) => this.#surely<Done>(at("dialogs", id, "flag"), what);

  note = (id: string, what: Note) => this.#surely<Done>(at("workers", id, "note"), what);
  exclude = (id: string, reason: string) => this.#post<Done>(at("workers", id, "exclude"), { reason });
  allow = (id: string) => this.#post<Done>(at("workers", id, "allow"), {});
  write = (id: string, what: WorkerMessage) => this.#surely<Done>(at("workers", id, "message"), what);
  bonus = (id: string, what: BonusWish) => this.#surely<Done>(at("workers", id, "bonus"), what);

  again = (id: string, what: OnFailed) => this.#surely<Done>(at("requests", id, "again"), what);
  dismiss = (id: string, what: OnFailed) => this.#surely<Done>(at("requests", id, "dismiss"), what);

  approve = (names: PaymentNames) => this.#post<Done>("ledger/approve", names);
  retry = (names: PaymentNames) => this.#post<Done>("ledger/retry", names);

  reviewNext = (query: Query) => this.#surely<ReviewNext>(hrefOf("review/next", query), {});
  judge = (id: string, what: Judge) => this.#surely<Judged>(at("review", id), what);
  skip = (id: string) => this.#surely<Done>(at("review", id, "skip"), {});
  /** Undone by its name, it is undone once, and not what was judged before it as well. */
  undo = (id: string | null) => this.#post<Done | ReviewNext>("review/undo", id === null ? {} : { dialog_id: id });
  bulk = (what: Bulk) => this.#surely<BulkDone>("review/bulk", what);

  pause = () => this.#surely<Done>("study/pause", {});
  resume = () => this.#surely<Done>("study/resume", {});
  change = (what: ChangeStudy) => this.#surely<Done>("study/change", what);

  #known(answer: Answer<Me>): Answer<Me> {
    if (answer.ok) this.#csrf = answer.value.csrf;
    return answer;
  }

  #get<T>(path: string, query: Query = {}): Promise<Answer<T>> {
    return this.#ask<T>(hrefOf(`/api/monitor/${path}`, query), {});
  }

  /** For what is done once, however often it is sent: if the answer is lost, it is sent again. */
  async #surely<T>(path: string, body: object): Promise<Answer<T>> {
    const answer = await this.#post<T>(path, body);
    if (!isLost(answer)) return answer;
    await this.#pause();
    return this.#post<T>(path, body);
  }

  async #post<T>(path: string, body: object): Promise<Answer<T>> {
    const send = () => this.#ask<T>(`/api/monitor/${path}`, posted(body, this.#csrf));
    const answer = await send();
    // Another tab has signed in meanwhile: the cookie is the newer one, the token is not.
    if (answer.ok || answer.code !== "bad_csrf" || !(await this.me()).ok) return answer;
    return send();
  }

  async #ask<T>(url: string, init: RequestInit): Promise<Answer<T>> {
    try {
      const signal = AbortSignal.timeout(WITHIN_MS);
      const response = await this.#fetch(url, { cache: "no-store", ...init, signal });
      const body: unknown = await response.json().catch(() => null);
      if (response.ok && body !== null) return { ok: true, value: body as T };
      const failure = failureOf(response, body);
      if (failure.code === "signed_out") this.onSignedOut();
      return failure;
    } catch {
      return { ok: false, status: 0, error: t.errors.unreachable, code: "", retryAfter: null };
    }
  }
}

/** Nobody knows whether it was done: no answer came, or one from something before the server. */
const isLost = (answer: Answer<unknown>): boolean =>
  !answer.ok && answer.code === "" && [0, 502, 504].includes(answer.status);

function posted(body: object, csrf: string): RequestInit {
  const headers = { "Content-Type": "application/json", ...(csrf && { "X-CSRF-Token": csrf }) };
  return { method: "POST", headers, body: JSON.stringify(body) };
}

function failureOf(response: Response, body: unknown): Failure {
  const told = typeof body === "object" && body !== null ? (body as Record<string, unknown>) : {};
  const after = Number(response.headers.get("Retry-After") ?? NaN);
  return {
    ok: false,
    status: response.status,
    error: typeof told.error === "string" ? told.error : t.errors.odd(response.status),
    code: typeof told.code === "string" ? told.code : "",
    retryAfter: Number.isFinite(after) ? after : null,
  };
}
