/** Planted bugs in who is asked, in whose place, and in what reminds them of it. */
import { inside, type Patch, type Planted } from "./planted-bug.ts";

const bug = (name: string, ...patches: readonly Patch[]): Planted => ({ name, patches, inFlows: false });

export const PLANTED_AT_THE_DESK: readonly Planted[] = [
  bug(
    "delegate and delegator are both counted",
    inside(
      "mayTakePart",
      "return !handed.some(({ by }) => by === person) && isSeated(handed, person, standing);",
      "return isSeated(handed, person, standing);",
    ),
  ),
  bug(
    "a reminder counts as a decision",
    inside(
      "approval",
      "({ ...state, remindedUpTo: due })",
      'decide({ ...state, remindedUpTo: due }, "approved", { at: due, by: [], reason: "" })',
    ),
  ),
  bug(
    "somebody who has left the group still counts",
    inside(
      "agreedIn",
      "export function agreedIn(approval: LiveApproval, roster: RosterState, stage: number): readonly string[] {",
      "export function agreedIn(approval: LiveApproval, now: RosterState, stage: number): readonly string[] {\n" +
        '  const past = approval.votes.map(({ by }) => [by, { name: by, mail: null, roles: [], groups: ["desk"] }] as const);\n' +
        "  const roster = { ...now, members: new Map([...now.members, ...past]) };",
    ),
  ),
];
