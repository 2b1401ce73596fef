/** Planted bugs in the stages of approvals and in what deadlines bring about. */
import { inside, type Patch, type Planted } from "./planted-bug.ts";

const bug = (name: string, ...patches: readonly Patch[]): Planted => ({ name, patches, inFlows: false });

export const PLANTED_IN_STAGES: readonly Planted[] = [
  bug(
    "a vote of one stage counts in the next",
    inside("agreedIn", " && (vote.stage ?? 1) === stage,", " && (vote.stage ?? 1) <= stage,"),
  ),
  bug(
    "a stage is skipped",
    inside(
      "concludeVotes",
      "if (stage < stageRules(approval).length) {",
      "if (stage + 1 < stageRules(approval).length) {",
    ),
    inside("concludeVotes", "else if (isMet(approval, roster))", "else if (stage > 0)"),
  ),
  bug(
    "a deadline extends twice",
    inside(
      "nextAtDeadline",
      'return wasExtended(approval) ? "expire"',
      'return approval.extensions.length > 1 ? "expire"',
    ),
  ),
  bug(
    "a veto in a later stage is ignored",
    inside("isHopeless", "if (veto) return true;", "if (veto && approval.stage === 1) return true;"),
  ),
];
