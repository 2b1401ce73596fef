/** Every checker, over one history. */
import { checkBank, checkEffects } from "./check-effects.ts";
import { checkLiveness } from "./check-liveness.ts";
import { checkCalls, checkDecisions, checkDriven, checkReads, checkReports } from "./check-told.ts";
import { checkCompensations } from "./check-trips.ts";
import type { Checker, Fault, History } from "./history.ts";

const CHECKERS: readonly Checker[] = [
  checkCalls,
  checkReports,
  checkDriven,
  checkReads,
  checkDecisions,
  checkEffects,
  checkBank,
  checkCompensations,
  checkLiveness,
];

export const checkHistory = (history: History): readonly Fault[] =>
  CHECKERS.flatMap((check) => check(history));
