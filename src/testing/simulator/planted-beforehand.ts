/** Planted bugs in standing grants and previews: found in the seeds that have some. */
import { inside, type Patch, type Planted } from "./planted-bug.ts";

const bug = (name: string, ...patches: readonly Patch[]): Planted => ({ name, patches, inFlows: false });

const COUNT = 'settleUse(draft, "grant.used", { action: id, effect, grant: permit.grant });';

export const PLANTED_BEFOREHAND: readonly Planted[] = [
  bug("a use of a grant is not counted", inside("startEffect", COUNT, "")),
  bug(
    "a use of a grant is counted in a commit of its own",
    inside("startEffect", COUNT, ""),
    inside(
      "move",
      'await runtime.reach(isNew ? "after_propose"',
      `if (moved.kind === "new" && moved.answer.kind === "started") {
        const { effect, state } = moved.answer;
        const { grant } = state.effect;
        const ref = { kind: "grant", id: grant.kind === "standing" ? grant.grant : "" } as const;
        if (grant.kind === "standing")
          await runLoading(runtime, { write: [ref] }, (draft) => {
            const body = { action: moved.action, effect, amount: grant.amount };
            draft.append(ref, [{ type: "grant.used", tv: 1, body }]);
            return { kind: "none" };
          });
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
      'draft.append(ref, [{ type: "effect.in_doubt", tv: 1, body: { attempt, reason: report.reason } }]);',
      `draft.append(ref, [{ type: "effect.in_doubt", tv: 1, body: { attempt, reason: report.reason } }]);
      settleUse(draft, "grant.returned", { action: command.action, effect: effect.id, grant: effect.grant });`,
    ),
  ),
];
