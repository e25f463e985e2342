/** A study as a server could tell of it: everything is made up, nothing is by chance. */

import type {
  AuditRow,
  Board,
  BoardRow,
  ChainRows,
  Chart,
  DialogOut,
  DialogRow,
  Entry,
  Flags,
  HitRows,
  LedgerRows,
  LobbyRow,
  Me,
  Now,
  PaymentOut,
  RequestRows,
  ToldRow,
  ReviewStats,
  Role,
  Standing,
  StudyOut,
  WorkerBrief,
  WorkerOut,
  WorkerRow,
} from "../../generated/monitor";

/** The server's time in all states; clocks stand still so that pictures can be compared. */
export const NOW = Date.UTC(2026, 10, 30, 14, 20, 30) / 1_000;

export const me: Me = {
  name: "Amira Haddad",
  role: "owner",
  csrf: "token",
  study: {
    id: "street-scenes-2",
    title: "Talk about a picture",
    currency: "USD",
    recruiter: "mturk",
    rounds: 10,
    posts: true,
    work: "",
    pays: true,
    messages: true,
  },
};

const hex = (n: number, length: number) =>
  ((Math.imul(n + 1, 2_654_435_761) >>> 0).toString(16) + (Math.imul(n + 7, 40_503_111) >>> 0).toString(16) + "9d3f5b71c2").slice(0, length);
export const workerId = (n: number) => `w${hex(n, 15)}`;
export const dialogId = (n: number) => `d${hex(n + 500, 15)}`;
/** Something between 0 and 1 that looks like chance and is always the same. */
const chance = (n: number) => ((Math.imul(n + 3, 1_597_334_677) >>> 8) % 1_000) / 1_000;

const CAPTIONS = [
  "A brown dog stands in front of a small red house.",
  "Two women wait at a bus stop in the rain.",
  "A market square with stalls of fruit and flowers, seen from above.",
  "رجل يقرأ جريدة على مقعد في الحديقة",
  "A kitchen table with three plates and a blue jug.",
  "Children run after pigeons in front of a church whose tower is wrapped in scaffolding and green nets.",
  "A cat sleeps on a laptop.",
  "A white van is parked across two places.",
];
const captionOf = (n: number) => CAPTIONS[n % CAPTIONS.length]!;

// --- Now -----------------------------------------------------------------------------------

const lobby: LobbyRow[] = [12, 48, 95, 31, 260, 7].map((waited, n) => ({
  arrival_id: `a${n}`,
  worker_id: workerId(40 + n),
  since: NOW - waited,
  waited_s: n === 4 ? 180 : 0,
  language: n === 2 ? "ar" : "en",
}));

export const now: Now = {
  at: NOW,
  began_at: NOW - 90_000,
  status: "open",
  places: 1_200,
  done: 437,
  live: 31,
  inside: 74,
  rate: 42.3,
  ends_at: NOW + 18 * 3_600 + 240,
  cost: 153_420,
  paid: 128_150,
  forecast: 421_900,
  hourly: 1_164,
  to_review: 12,
  stuck: { payments: 3, cents: 450, requests: 1, problems: 1, to_approve: 2, to_approve_cents: 160 },
  lobby: lobby.sort((a, b) => a.since - a.waited_s - (b.since - b.waited_s)),
  lobby_size: 9,
  health: {
    database: true,
    redis: true,
    processes: [
      { id: "web-1", started_at: NOW - 90_000, seen_at: NOW - 1.2, pages: 48 },
      { id: "web-2", started_at: NOW - 4_000, seen_at: NOW - 0.4, pages: 35 },
    ],
    recruiting_at: NOW - 21,
    recruiting: [],
  },
};

const NOTHING_STUCK = { payments: 0, cents: 0, requests: 0, problems: 0, to_approve: 0, to_approve_cents: 0 };

export const calm: Now = { ...now, to_review: 0, stuck: NOTHING_STUCK };

export const empty: Now = {
  ...now,
  began_at: null,
  done: 0,
  live: 0,
  inside: 0,
  rate: 0,
  ends_at: null,
  cost: 0,
  paid: 0,
  forecast: null,
  hourly: null,
  to_review: 0,
  stuck: NOTHING_STUCK,
  lobby: [],
  lobby_size: 0,
};

export const troubled: Now = {
  ...now,
  status: "paused",
  health: {
    database: true,
    redis: false,
    processes: [now.health.processes[0]!, { id: "web-2", started_at: NOW - 4_000, seen_at: NOW - 133, pages: 35 }],
    recruiting_at: NOW - 340,
    recruiting: [
      "mturk: CreateHIT was refused: this account has insufficient funds (available 3.20 USD, needed 18.00 USD)",
      "mturk: the request could not be signed; check DUOLOGUE_MTURK_SECRET",
    ],
  },
};

function boardRow(n: number): BoardRow {
  const solo = n % 11 === 5;
  const away = n % 9 === 4 && !solo;
  const turn: Role = n % 2 === 0 ? "questioner" : "answerer";
  const round = (n % 10) + 1;
  const turn_at = NOW - 4 - Math.floor(chance(n) * (n % 7 === 3 ? 200 : 80));
  const seat = (role: Role, k: number) => ({
    role,
    worker_id: workerId(100 + 2 * n + k),
    sent: role === "questioner" ? round : round - 1,
    away: away && role !== turn,
    away_at: away && role !== turn ? NOW - (n % 4) * 12 : null,
    grace_ends_at: away && role !== turn ? NOW - (n % 4) * 12 + 60 : null,
    gone: solo && role !== turn,
  });
  return {
    id: dialogId(n),
    image_id: `COCO_${1_000 + n}`,
    caption: captionOf(n),
    phase: solo ? "solo" : "paired",
    round,
    rounds: 10,
    turn,
    turn_at,
    turn_ends_at: turn_at + 180,
    opened_at: NOW - 60 - n * 13,
    seats: [seat("questioner", 0), seat("answerer", 1)],
    flags: n % 13 === 8 ? 1 + (n % 2) : 0,
  };
}

export const board = (size: number): Board => ({
  now: NOW,
  all: true,
  rows: Array.from({ length: size }, (_, n) => boardRow(n)),
  over: [],
});

export function chart(hours: number): Chart {
  const step_s = hours > 3 ? 300 : 60;
  const size = Math.round((hours * 3_600) / step_s);
  const each = step_s / 60;
  const points = Array.from({ length: size }, (_, n) => {
    const wave = 1 + Math.sin(n / 17) * 0.6;
    return {
      at: NOW - (NOW % step_s) - (size - 1 - n) * step_s,
      arrivals: Math.round(wave * each * (1.6 + 2 * chance(n))),
      pairs: Math.round(wave * each * (0.6 + chance(n + 50))),
      complete: Math.round(wave * each * (0.3 + 0.9 * chance(n + 90))),
      lost: chance(n + 31) > 0.86 ? Math.ceil(each) : 0,
      wait_s: chance(n + 31) > 0.93 ? null : 20 + 60 * chance(n + 5) * wave,
    };
  });
  return { step_s, points };
}

// --- Dialogs -------------------------------------------------------------------------------

const TALK: readonly [string, string][] = [
  ["Is it day or night?", "It is day, and the sun is shining."],
  ["What colour is the house?", "It is red with a dark brown roof."],
  ["Where is the dog?", "It stands on a sandy path in front of the house."],
  ["Is the dog big?", "It is of middle size, and brown."],
  ["Are there any people?", "No, nobody can be seen."],
  ["What is behind the house?", "Green hills, and mountains further away."],
  ["Are there trees?", "yes"],
  ["Does the house have windows?", "Yes, two small ones with light in them."],
  ["هل الباب مفتوح؟", "لا، الباب مغلق."],
  ["Can you see any water?", "No, there is no water in the picture. <b>None</b> at all, as far as I can see; there may be a stream behind the hills, but that would only be a guess of mine."],
];

/** The entries of a dialog in which so many messages were sent. */
function talk(messages: number, opened: number): Entry[] {
  const entries: Entry[] = [{ seq: 1, at: opened, kind: "opened" }];
  let at = opened;
  for (let n = 0; n < messages; n += 1) {
    at += 6 + Math.round(chance(n + 9) * 30);
    const role: Role = n % 2 === 0 ? "questioner" : "answerer";
    entries.push({
      seq: entries.length + 1,
      at,
      kind: "said",
      role,
      round: Math.floor(n / 2) + 1,
      text: TALK[Math.floor(n / 2)]![n % 2]!,
      pasted: n === 7,
      composed_ms: n === 13 ? 600 : 2_000 + Math.round(chance(n) * 9_000),
      edits: n % 5 === 2 ? 2 : 0,
    });
    if (n === 8) {
      entries.push({ seq: entries.length + 1, at: (at += 12), kind: "away", role: "answerer" });
      entries.push({ seq: entries.length + 1, at: (at += 31), kind: "returned", role: "answerer" });
    }
    if (n === 10) {
      entries.push({
        seq: entries.length + 1,
        at: (at += 5),
        kind: "told",
        role: "answerer",
        text: "Please answer in whole sentences.",
      });
      entries.push({ seq: entries.length + 1, at: (at += 4), kind: "extended", seconds: 300 });
    }
  }
  return entries;
}

const brief = (id: string, n: number, change: Partial<WorkerBrief> = {}): WorkerBrief => ({
  id,
  dialogs: 3 + n,
  complete: 2 + n,
  solo: 1,
  left: 0,
  flags: n % 3,
  rejected: 0,
  excluded: false,
  median_answer_s: 11.4 + n,
  ...change,
});

export const Q = workerId(1);
export const A = workerId(2);

const owed = (arrival_id: string, worker_id: string, change: Partial<PaymentOut> = {}): PaymentOut => ({
  arrival_id,
  reason: "dialog",
  worker_id,
  dialog_id: change.reason === "waiting" ? null : dialogId(Number(arrival_id.slice(1)) || 1),
  cents: 150,
  state: "owed",
  at: NOW - 420,
  paid_at: null,
  problem: null,
  note: null,
  handed_in: "submitted",
  ...change,
});

export function standing(change: Partial<Standing> = {}): Standing {
  const seat = { away_at: null, gone: false, release: null, cents: 0, full_pay: 150 };
  return {
    phase: "paired",
    outcome: null,
    ending: null,
    round: 7,
    turn: "answerer",
    turn_at: NOW - 34,
    turn_ends_at: NOW + 146,
    limit_at: NOW + 1_500,
    ended_at: null,
    seats: [
      { ...seat, role: "questioner", arrival_id: "aq", worker_id: Q, sent: 7 },
      { ...seat, role: "answerer", arrival_id: "aa", worker_id: A, sent: 6 },
    ],
    ...change,
  };
}

const base: DialogOut = {
  id: dialogId(1),
  now: NOW,
  item_id: "i1",
  image_id: "COCO_000000113",
  caption: CAPTIONS[0]!,
  width: 640,
  height: 480,
  place: 1,
  language: "en",
  same_address: false,
  opened_at: NOW - 420,
  rounds: 10,
  acceptance: null,
  standing: standing(),
  entries: talk(13, NOW - 420),
  findings: [],
  judgements: [],
  workers: [brief(Q, 9), brief(A, 1)],
  payments: [],
  relaunched: false,
};

export const live: DialogOut = {
  ...base,
  same_address: true,
  findings: [{ number: 1, flag: "pasted", role: "answerer", round: 4, seq: 9, reason: "41 characters came in at once.", by: null }],
};

export const solo: DialogOut = {
  ...base,
  standing: standing({
    phase: "solo",
    turn: "questioner",
    seats: [
      { role: "questioner", arrival_id: "aq", worker_id: Q, sent: 7, away_at: NOW - 18, gone: false, release: null, cents: 0, full_pay: 150 },
      { role: "answerer", arrival_id: "aa", worker_id: A, sent: 6, away_at: null, gone: true, release: "left", cents: 0, full_pay: 150 },
    ],
  }),
  entries: [
    ...base.entries,
    { seq: base.entries.length + 1, at: NOW - 60, kind: "away", role: "answerer" },
    { seq: base.entries.length + 2, at: NOW - 34, kind: "seat_lost", role: "answerer", why: "grace" },
  ],
  relaunched: true,
};

/** One of them has sent everything, the other is awaited. */
export const nearlyDone: DialogOut = {
  ...base,
  standing: standing({
    round: 10,
    seats: standing().seats.map((seat) => ({ ...seat, sent: seat.role === "questioner" ? 10 : 9, full_pay: 120 })),
  }),
  entries: talk(19, NOW - 900),
};

const over = talk(20, NOW - 1_500);
const overSeats = standing().seats.map((seat) => ({ ...seat, sent: 10, release: "completed" as const, cents: 150 }));

export const complete: DialogOut = {
  ...base,
  opened_at: NOW - 1_500,
  entries: [...over, { seq: over.length + 1, at: over.at(-1)!.at, kind: "ended", why: "complete" }],
  standing: standing({ phase: "ended", outcome: "complete", ending: "complete", round: 10, turn: null, turn_ends_at: null, limit_at: null, ended_at: NOW - 900, seats: overSeats }),
  payments: [owed("aq", Q), owed("aa", A)],
  findings: [
    { number: 1, flag: "short_answers", role: "answerer", round: 7, seq: null, reason: "An answer of one word: “yes”.", by: null },
    { number: 2, flag: "too_fast", role: "answerer", round: 7, seq: null, reason: "Written in 0.6 s.", by: null },
    { number: 3, flag: "team", role: "questioner", round: null, seq: null, reason: "Asks the same things in every dialog; look at the others.", by: "Jonas" },
  ],
};

export const judged: DialogOut = {
  ...complete,
  acceptance: "rejected",
  relaunched: true,
  judgements: [
    { by: "Jonas", verdict: "rejected", reason: "The answers are no sentences.", decides: true, at: NOW - 300 },
    { by: "Amira Haddad", verdict: "accepted", reason: "", decides: false, at: NOW - 120 },
  ],
  payments: [
    owed("aq", Q, { state: "paid", paid_at: NOW - 100 }),
    owed("aa", A, { state: "failed", problem: "mturk: the assignment was rejected by hand on the site", note: "approved by Jonas" }),
  ],
};

export const abandoned: DialogOut = {
  ...complete,
  id: dialogId(2),
  entries: [...talk(7, NOW - 1_500), { seq: 8 + 1, at: NOW - 900, kind: "ended", why: "abandoned" }],
  findings: [],
  standing: { ...complete.standing, outcome: "abandoned", ending: "abandoned", round: 4, seats: overSeats.map((seat) => ({ ...seat, sent: 4, release: seat.role === "answerer" ? ("left" as const) : ("finished_alone" as const) })) },
  payments: [owed("aq", Q)],
};

export const endedByTeam: DialogOut = {
  ...abandoned,
  entries: [...talk(7, NOW - 1_500), { seq: 8 + 1, at: NOW - 900, kind: "ended", why: "ended_by_team", text: "The picture was broken, sorry." }],
  standing: { ...abandoned.standing, ending: "ended_by_team", seats: overSeats.map((seat) => ({ ...seat, sent: 4, release: "ended_by_team" as const })) },
};

export const dialogRows: DialogRow[] = Array.from({ length: 18 }, (_, n) => {
  const phase = n < 3 ? "paired" : n === 3 ? "solo" : "ended";
  const outcome = phase !== "ended" ? null : n % 6 === 1 ? "solo" : n % 7 === 4 ? "abandoned" : "complete";
  return {
    id: dialogId(n),
    image_id: `COCO_${1_000 + n}`,
    caption: captionOf(n),
    place: 1,
    phase,
    outcome,
    ending: n === 11 ? "ended_by_team" : n === 4 ? "time_limit" : outcome,
    acceptance: outcome !== "complete" ? null : n % 5 === 0 ? "rejected" : n % 2 === 0 ? "accepted" : null,
    opened_at: NOW - 400 - n * 3_700,
    ended_at: phase === "ended" ? NOW - n * 3_700 : null,
    messages: phase === "ended" ? 20 - (n % 6 === 1 ? 5 : 0) : 4 + n,
    flags: n % 4 === 2 ? ["short_answers", "too_fast"] : n % 9 === 5 ? ["same_address"] : [],
    workers: [workerId(n), workerId(n + 30)],
    judged_by: outcome === "complete" && n % 2 === 0 ? ["Jonas"] : [],
  };
});

export const flags: Flags = {
  flags: [
    { name: "short_answers", label: "short answers", means: "Answers of a word or two.", severity: "doubt", dialogs: 31 },
    { name: "too_fast", label: "too fast", means: "A message came sooner than the one before it can be read and this one written.", severity: "doubt", dialogs: 17 },
    { name: "same_address", label: "same address", means: "Both people came from one network address; it may be one person.", severity: "note", dialogs: 9 },
    { name: "contact", label: "contact data", means: "A message holds an e-mail or web address, a user name or a long number.", severity: "harm", dialogs: 2 },
    { name: "team", label: "by the team", means: "Somebody of the team saw something, and wrote what.", severity: null, dialogs: 2 },
    { name: "pasted", label: "pasted", means: "Somebody pasted a long message, or several.", severity: "doubt", dialogs: 1 },
    { name: "offensive", label: "offensive", means: "A message holds an offensive word, or insults the other person.", severity: "harm", dialogs: 0 },
  ],
};

// --- People --------------------------------------------------------------------------------

export const workerRows: WorkerRow[] = Array.from({ length: 16 }, (_, n) => ({
  id: workerId(n),
  recruiter: "mturk",
  first_at: NOW - 90_000 - n * 900,
  last_at: NOW - 40 - n * n * 500,
  arrivals: 1 + (n % 6),
  dialogs: n % 6,
  complete: Math.max(0, (n % 6) - 1),
  flags: n % 5 === 3 ? n : 0,
  rejected: n % 7 === 6 ? 1 : 0,
  owed: (n % 4) * 150,
  paid: n * 150,
  excluded: n === 5,
  inside: n === 0 ? "seated" : n === 1 ? "waiting" : n === 2 ? "arrived" : null,
}));

export const worker: WorkerOut = {
  row: { ...workerRows[3]!, id: A, dialogs: 6, complete: 4, flags: 3, rejected: 1, arrivals: 7, owed: 150, paid: 620 },
  external_id: "A2EXAMPLE7WORKER",
  excluded_why: null,
  brief: brief(A, 3, { flags: 3, rejected: 1, left: 1 }),
  releases: { completed: 4, finished_alone: 1, left: 1, never_paired: 1 },
  median_words: 6.5,
  dialogs: dialogRows.slice(4, 9),
  payments: [
    owed("a7", A),
    owed("a6", A, { state: "paid", paid_at: NOW - 90_000 }),
    owed("a5", A, { state: "paid", reason: "waiting", cents: 20, paid_at: NOW - 180_000 }),
    owed("a4", A, { state: "cancelled", note: "Refused: the answers were copied from the caption." }),
  ],
  notes: [
    { by: "Jonas", text: "Writes very short answers; asked to write whole sentences on Friday.\nLooks better since.", at: NOW - 86_000 },
    { by: null, text: "Reported their partner as rude.", at: NOW - 170_000 },
  ],
  requests: [
    { id: "r-81f2", kind: "bonus", target: "a6", worker_id: A, needs: "owner", by: "Amira Haddad", state: "wanted", at: NOW - 50, done_at: null, problem: null, text: "$0.50, for a dialog that we ended" },
    { id: "r-77aa", kind: "message", target: A, worker_id: A, needs: "reviewer", by: "Jonas", state: "failed", at: NOW - 86_000, done_at: NOW - 85_990.25, problem: "mturk: the worker takes no messages of this requester", text: "About your answers" },
    { id: "r-6b10", kind: "bonus", target: "a5", worker_id: A, needs: "owner", by: "Jonas", state: "done", at: NOW - 200_000, done_at: NOW - 199_000, problem: null, text: "$0.20" },
  ],
};

export const excluded: WorkerOut = { ...worker, row: { ...worker.row, excluded: true }, excluded_why: "Copies the caption into every answer.", brief: { ...worker.brief, excluded: true } };

// --- Money ---------------------------------------------------------------------------------

export const ledger: LedgerRows = {
  sums: [
    { state: "owed", payments: 31, cents: 4_650 },
    { state: "approved", payments: 12, cents: 1_800 },
    { state: "sending", payments: 1, cents: 150 },
    { state: "paid", payments: 871, cents: 128_150 },
    { state: "failed", payments: 2, cents: 300 },
    { state: "held", payments: 1, cents: 150 },
    { state: "cancelled", payments: 4, cents: 600 },
  ],
  rows: [
    owed("a30", workerId(3)),
    owed("a31", workerId(4), { cents: 20, reason: "waiting" }),
    owed("a32", workerId(5), { state: "failed", problem: "mturk: the assignment was rejected by hand on the site", handed_in: "rejected" }),
    owed("a33", workerId(6), { state: "failed", problem: "mturk: insufficient funds", reason: "bonus-5f1c", note: "for a dialog that we ended" }),
    owed("a34", workerId(7), { state: "held", problem: "handed in twice, with two codes" }),
    owed("a35", workerId(8), { state: "paid", paid_at: NOW - 4_000, handed_in: "approved" }),
    owed("a36", workerId(9), { state: "cancelled", note: "Refused: the answers were copied from the caption.", handed_in: "submitted" }),
    owed("a37", workerId(10), { state: "sending", handed_in: "submitted" }),
  ],
  total: 922,
  next: "c2",
};

export const requests: RequestRows = {
  states: { wanted: 1, done: 41, failed: 1, dismissed: 1 },
  rows: [
    ...worker.requests,
    { id: "r-5c02", kind: "block", target: workerId(5), worker_id: workerId(5), needs: "owner", by: "Amira Haddad", state: "done", at: NOW - 210_000, done_at: NOW - 209_980, problem: null, text: "Copies the caption into every answer." },
    { id: "r-4411", kind: "retry", target: "a33", worker_id: workerId(6), needs: "owner", by: "Amira Haddad", state: "dismissed", at: NOW - 300_000, done_at: NOW - 299_000, problem: "this payment was taken back", text: "dialog" },
    { id: "reject-a36", kind: "reject", target: "a36", worker_id: workerId(9), needs: "reviewer", by: "Jonas", state: "done", at: NOW - 310_000, done_at: NOW - 309_000, problem: null, text: "The answers were copied from the caption." },
  ],
  total: 44,
  next: "c2",
};

export const hits: HitRows = {
  wanted: 64,
  have: 61,
  why: "",
  states: { open: 3, closed: 2, done: 41, failed: 1 },
  rows: [
    { id: "h1", remote_id: "3EXAMPLEHIT0000000000000000001", state: "open", seats: 40, taken: 22, submitted: 9, reward: 100, posted_at: NOW - 5_000, expires_at: NOW + 80_000, problem: null },
    { id: "h2", remote_id: "3EXAMPLEHIT0000000000000000002", state: "closed", seats: 40, taken: 2, submitted: 38, reward: 100, posted_at: NOW - 95_000, expires_at: NOW - 8_000, problem: null },
    { id: "h3", remote_id: null, state: "failed", seats: 20, taken: 0, submitted: 0, reward: 100, posted_at: null, expires_at: null, problem: "mturk: CreateHIT was refused: insufficient funds" },
    { id: "h4", remote_id: "3EXAMPLEHIT0000000000000000004", state: "done", seats: 40, taken: 0, submitted: 40, reward: 100, posted_at: NOW - 190_000, expires_at: NOW - 100_000, problem: null },
  ],
  total: 47,
  next: "c2",
};

export const chains: ChainRows = {
  rows: [
    { image_id: "COCO_000000113", caption: "A brown dog stands in front of a small red house.", wanted: 1, complete: 0, dialogs: [{ id: dialogId(60), how: "abandoned", relaunched: ["3EXAMPLEHIT…02"] }, { id: dialogId(61), how: "rejected", relaunched: ["3EXAMPLEHIT…01"] }, { id: dialogId(62), how: "paired", relaunched: [] }] },
    { image_id: "COCO_000000204", caption: "A market square with stalls of fruit and flowers, seen from above, on a day on which it rains and nobody buys anything.", wanted: 2, complete: 1, dialogs: [{ id: dialogId(63), how: "solo", relaunched: ["3EXAMPLEHIT…01"] }, { id: dialogId(64), how: "complete", relaunched: [] }] },
    { image_id: "COCO_000000377", caption: "رجل يقرأ جريدة على مقعد في الحديقة", wanted: 1, complete: 0, dialogs: [{ id: dialogId(65), how: "ended_by_team", relaunched: [] }] },
  ],
  total: 3,
  next: null,
};

// --- Review --------------------------------------------------------------------------------

export const stats: ReviewStats = { waiting: 12, judged: 425, accepted: 391, rejected: 34, mine: 203, twice: 42, agree: 0.929, kappa: 0.71 };

// --- Study ---------------------------------------------------------------------------------

export const study: StudyOut = {
  status: "open",
  file: {
    study: { id: "street-scenes-2", title: "Talk about a picture", description: "Two people talk about a picture that only one of them can see.", contact: "picture-study@example.org", languages: ["en", "ar"], dialogs_per_worker: 20, repeat_partners: false, invitations: null },
    protocol: { name: "visdial", rounds: 10, grace_s: 60, turn_limit_s: 180, dialog_limit_s: 1_800, pair_again_below: 3 },
    lobby: { start_s: 20, limit_s: 600, heartbeat_s: 10 },
    items: { file: "items.jsonl", wanted: 1 },
    pay: { currency: "USD", complete: "1.50", left: "0.00", waiting_per_minute: "0.10" },
    texts: { consent: "You are asked to take part in a research study about how people talk about pictures.\n\nTaking part is voluntary, and you can leave at any time." },
    check: [{ question: "What does the questioner see?", options: ["The picture", "One line about the picture", "Both"], answer: "One line about the picture" }],
    recruiter: { kind: "mturk", reward: "1.00", mturk: { sandbox: false, qualifications: [] } },
  },
  from_file: { grace_s: 60, turn_limit_s: 180, dialog_limit_s: 1_800, lobby_limit_s: 600, pay_complete: 150, pay_left: 0, pay_waiting_per_minute: 10 },
  changes: { turn_limit_s: 240 },
  may_change: ["grace_s", "turn_limit_s", "dialog_limit_s", "lobby_limit_s", "pay_complete", "pay_left", "pay_waiting_per_minute"],
  keys: {
    grace_s: "protocol.grace_s",
    turn_limit_s: "protocol.turn_limit_s",
    dialog_limit_s: "protocol.dialog_limit_s",
    lobby_limit_s: "lobby.limit_s",
    pay_complete: "pay.complete",
    pay_left: "pay.left",
    pay_waiting_per_minute: "pay.waiting_per_minute",
  },
};

export const told: ToldRow[] = [
  { id: "t-3", at: NOW - 600, kind: "problem", text: "The picture does not load, only a grey box.", worker_id: workerId(4), dialog_id: null },
  { id: "t-2", at: NOW - 4_000, kind: "leaving", text: "My train is here, sorry!", worker_id: workerId(7), dialog_id: null },
  { id: "t-1", at: NOW - 9_000, kind: "feedback", text: "Fun. The second partner was very quick.", worker_id: workerId(2), dialog_id: null },
];

export const auditRows: AuditRow[] = [
  { id: "1", at: NOW - 120, by: "Amira Haddad", action: "study.change", target: "street-scenes-2", before: '{"changes":{"turn_limit_s":null}}', after: '{"changes":{"turn_limit_s":240}}' },
  { id: "2", at: NOW - 1_500, by: "Jonas", action: "review.judge", target: dialogId(1), before: '{"verdict":null}', after: '{"verdict":"rejected","approved":{"a_2aff1700000000000000 dialog":150},"refused":["a_3bee0000000000000000"],"taken_back":{"a_3bee0000000000000000 dialog":150}}' },
  { id: "3", at: NOW - 7_000, by: "Amira Haddad", action: "worker.exclude", target: workerId(5), before: '{"excluded":false}', after: '{"excluded":true,"why":"Copies the caption into every answer."}' },
  { id: "4", at: NOW - 90_000, by: "Jonas", action: "dialog.end", target: dialogId(3), before: null, after: '{"cents":{"answerer":150,"questioner":150},"seq":14}' },
  { id: "7", at: NOW - 91_000, by: "Jonas", action: "dialog.end", target: dialogId(4), before: null, after: '{"cents":{},"seq":9}' },
  { id: "8", at: NOW - 92_000, by: "Jonas", action: "ledger.approve", target: "a_2aff1700000000000000", before: '{"state":"owed","reason":"dialog","cents":150}', after: '{"state":"approved","reason":"dialog","cents":150}' },
  { id: "5", at: NOW - 95_000, by: null, action: "admin.add", target: "Jonas", before: null, after: '{"role":"reviewer"}' },
  { id: "6", at: NOW - 96_000, by: "Amira Haddad", action: "sign_in", target: "Amira Haddad", before: null, after: null },
];
