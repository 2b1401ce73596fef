/** Everything that is known of one run when it is over, and what a checker may find wrong with it. */
import type { Received } from "../../crash/effects.ts";
import type { Line } from "./told.ts";
import type { Journal } from "./watch.ts";

export type History = {
  /** What clients were told. */
  readonly told: readonly Line[];
  /** What happened outside, by the receiver's own log. */
  readonly received: readonly Received[];
  readonly journal: Journal;
};

export const FAULTS = [
  "lost",
  "denied",
  "stale read",
  "two winners",
  "over budget",
  "ledger",
  "doubled",
  "unexplained",
  "phantom",
  "compensation",
  "stuck",
] as const;
export type FaultKind = (typeof FAULTS)[number];
export type Fault = { readonly kind: FaultKind; readonly what: string };

export type Checker = (history: History) => readonly Fault[];

/**
 * What each answer may still become. A doubt is ended by a probe or a person, a wait by people or time; everything else
 * stays.
 */
const LATER: Readonly<Record<string, readonly string[]>> = {
  applied: ["applied"],
  not_applied: ["not_applied"],
  refused: ["refused"],
  in_doubt: ["in_doubt", "applied", "not_applied"],
  permitted: ["running", "applied", "not_applied", "in_doubt"],
  approval: ["waiting", "running", "applied", "not_applied", "in_doubt", "refused"],
  kill_switch: ["open", "waiting", "running", "applied", "not_applied", "in_doubt", "refused"],
  budget: ["open", "waiting", "running", "applied", "not_applied", "in_doubt", "refused"],
  approved: ["approved", "consumed", "lapsed", "revoked"],
  consumed: ["consumed"],
  lapsed: ["lapsed"],
  rejected: ["rejected"],
  initialized: ["initialized", "executing", "settling", "completed", "failed"],
  executing: ["executing", "settling", "completed", "failed"],
  completed: ["completed"],
};

export const mayBecome = (known: string, status: string): boolean =>
  (LATER[known] ?? [known]).includes(status);
