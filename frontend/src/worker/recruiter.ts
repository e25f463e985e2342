/** Where people come from decides how their work is handed in or given back. */

/** One text for each way: a code, a form of the frame around, the way back to Prolific. */
export interface ByRecruiter<T> {
  link: T;
  mturk: T;
  prolific: T;
}

export function recruiterText<T>(recruiter: string, texts: ByRecruiter<T>): T {
  if (recruiter === "mturk" || recruiter === "prolific") return texts[recruiter];
  return texts.link;
}
