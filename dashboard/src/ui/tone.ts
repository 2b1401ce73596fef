/** What a colour says, everywhere the same: each status of the product has one tone. */
export type Tone = "plain" | "hold" | "go" | "stop" | "doubt" | "note";

const TONES: { readonly [status: string]: Tone } = {
  pending: "hold",
  waiting: "hold",
  held: "hold",
  awaiting_approval: "hold",
  escalate: "hold",
  medium: "hold",
  raised: "hold",
  approve: "go",
  approved: "go",
  modified: "go",
  consumed: "go",
  applied: "go",
  completed: "go",
  answered: "go",
  low: "go",
  met: "go",
  block: "stop",
  blocked: "stop",
  refused: "stop",
  reject: "stop",
  rejected: "stop",
  not_applied: "stop",
  failed: "stop",
  high: "stop",
  critical: "stop",
  revoked: "stop",
  dead: "stop",
  in_doubt: "doubt",
  rolling_back: "doubt",
  executing: "note",
  running: "note",
  settling: "note",
  revise: "note",
  open: "note",
};

export const toneOf = (status: string): Tone => TONES[status] ?? "plain";

export const WASH: { readonly [tone in Tone]: string } = {
  plain: "bg-sunken text-soft",
  hold: "bg-hold-wash text-hold",
  go: "bg-go-wash text-go",
  stop: "bg-stop-wash text-stop",
  doubt: "bg-doubt-wash text-doubt",
  note: "bg-note-wash text-note",
};

export const TEXT: { readonly [tone in Tone]: string } = {
  plain: "text-soft",
  hold: "text-hold",
  go: "text-go",
  stop: "text-stop",
  doubt: "text-doubt",
  note: "text-note",
};

/** Of bars and dots. */
export const FILL: { readonly [tone in Tone]: string } = {
  plain: "bg-edge",
  hold: "bg-hold",
  go: "bg-go",
  stop: "bg-stop",
  doubt: "bg-doubt",
  note: "bg-note",
};

/** `awaiting_approval` as people read it. */
export const statusText = (status: string): string => status.replaceAll("_", " ");
