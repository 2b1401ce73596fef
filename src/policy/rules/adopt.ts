/**
 * Commits that put a policy version in force, and that record which process judges by which version: from when the
 * process can perform effects until its epoch ends or it leaves the version.
 */
import type { Json } from "../../kernel/json.ts";
import { policyStream } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";

type AdoptPolicy = {
  readonly name: string;
  readonly digest: string;
  readonly document: Json;
  readonly by: string;
  readonly source: string;
};

type AdoptionResult = { readonly kind: "adopted" | "in_force"; readonly before: string | null };

/** Records that a document is in force from now on, unless it already is. */
export function adoptPolicy(draft: Draft, command: AdoptPolicy): Need | AdoptionResult {
  const ref = policyStream(command.name);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  const before = draft.state(ref).versions.at(-1)?.digest ?? null;
  if (before === command.digest) return { kind: "in_force", before };
  const { digest, by, source } = command;
  const document = draft.keep(command.document);
  draft.append(ref, [{ type: "policy.adopted", tv: 1, body: { digest, by, source, document } }]);
  return { kind: "adopted", before };
}

/** A version, and the source from which the process read it. */
export type UsedVersion = { readonly name: string; readonly digest: string; readonly source: string };
type PolicyUser = { readonly epoch: string; readonly by: string };

/** The process judges by this version until its epoch ends or it leaves the version. */
export function takePolicy(
  draft: Draft,
  { name, digest, source }: UsedVersion,
  user: PolicyUser,
): Need | undefined {
  const ref = policyStream(name);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  draft.append(ref, [{ type: "policy.taken", tv: 1, body: { digest, source, ...user } }]);
  return undefined;
}

/** The process no longer judges by this version: another version, or a policy of another name, replaced it. */
export function leavePolicy(
  draft: Draft,
  { name, digest }: Pick<UsedVersion, "name" | "digest">,
  { epoch }: Pick<PolicyUser, "epoch">,
): Need | undefined {
  const ref = policyStream(name);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  draft.append(ref, [{ type: "policy.left", tv: 1, body: { digest, epoch } }]);
  return undefined;
}
