/** Planted bugs in the stages of approvals and in what deadlines bring about. */
import { at, type Patch, type Planted } from "./planted-bug.ts";

const COUNT = "src/core/approval/count.ts";
const DEADLINE = "src/core/approval/deadline.ts";
const STATE = "src/core/approval/state.ts";

const bug = (name: string, ...patches: readonly Patch[]): Planted => ({ name, patches, inFlows: false });

export const PLANTED_IN_STAGES: readonly Planted[] = [
  bug(
    "a vote of one stage counts in the next",
    at(STATE, " && (vote.stage ?? 1) === stage,", " && (vote.stage ?? 1) <= stage,"),
  ),
  bug(
    "a stage is skipped",
    at(COUNT, "if (stage < stageRules(approval).length) {", "if (stage + 1 < stageRules(approval).length) {"),
    at(COUNT, "else if (isMet(approval, roster))", "else if (stage > 0)"),
  ),
  bug(
    "a deadline extends twice",
    at(
      DEADLINE,
      'return wasExtended(approval) ? "expire"',
      'return approval.extensions.length > 1 ? "expire"',
    ),
  ),
  bug(
    "a veto in a later stage is ignored",
    at(COUNT, "if (veto) return true;", "if (veto && approval.stage === 1) return true;"),
  ),
];
