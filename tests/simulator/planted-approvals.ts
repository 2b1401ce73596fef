/** Planted bugs in approvals: standing grants and previews, stages and deadlines, delegation and reminders. */
import { inside, type Patch, type Planted } from "./planted-bug.ts";

const bug = (name: string, ...patches: readonly Patch[]): Planted => ({ name, patches, inFlows: false });

const COUNT =
  'if (permit.grant.kind === "standing") settleUse(draft, "grant.used", { action: id, effect }, permit.grant);';

export const PLANTED_IN_GRANTS: readonly Planted[] = [
  bug("a use of a grant is not counted", inside("startEffect", COUNT, "")),
  bug(
    "a use of a grant is counted in a commit of its own",
    inside("startEffect", COUNT, ""),
    inside(
      "advanceCall",
      'await runtime.reach(isNew ? "after_propose"',
      `if (moved.kind === "new" && moved.answer.kind === "started") {
        const { effect, state } = moved.answer;
        const { grant } = state.effect;
        const ref = { kind: "grant", id: grant.kind === "standing" ? grant.grant : "" } as const;
        if (grant.kind === "standing")
          await runWithInputs(runtime, { write: [ref] }, (draft) => {
            const body = { action: moved.action, effect, amount: grant.amount };
            draft.append(ref, [{ type: "grant.used", tv: 1, body }]);
            return { kind: "none" };
          }, createInputLoader(runtime, tool));
      }
      await runtime.reach(isNew ? "after_propose"`,
    ),
  ),
  bug(
    "a revoked grant is still used",
    inside("fit", 'one.status !== "given" || ', ""),
    inside(
      "grant",
      '"grant.used": after(\n      ["given"],',
      '"grant.used": after(\n      ["given", "revoked"],',
    ),
  ),
  bug(
    "a preview is not computed again",
    inside(
      "lookAgain",
      "const shows = previewNow(draft, { action: id, args: executor.args, approval: approvalId }, executor);",
      'const shows = { kind: "preview", preview: approval.preview ?? null } as ReturnType<typeof previewNow>;',
    ),
  ),
  bug(
    "a preview's digest is not in the binding",
    inside("questionBinding", "preview: question.preview?.digest,", "preview: undefined,"),
  ),
  bug(
    "a use that is in doubt is given back",
    inside(
      "writeOutcome",
      'appendActionEvent(draft, action, "effect.in_doubt", { attempt, reason: report.reason });',
      `appendActionEvent(draft, action, "effect.in_doubt", { attempt, reason: report.reason });
      if (effect.grant.kind === "standing")
        settleUse(draft, "grant.returned", { action: command.action, effect: effect.id }, effect.grant);`,
    ),
  ),
];

export const PLANTED_IN_DELEGATION: readonly Planted[] = [
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
      "function agreedIn(approval: LiveApproval, roster: RosterState, stage: number): readonly string[] {",
      "function agreedIn(approval: LiveApproval, now: RosterState, stage: number): readonly string[] {\n" +
        '  const past = approval.votes.map(({ by }) => [by, { name: by, mail: null, roles: [], groups: ["desk"] }] as const);\n' +
        "  const roster = { ...now, members: new Map([...now.members, ...past]) };",
    ),
  ),
];

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
