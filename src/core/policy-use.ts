/** Which processes judge by which version of a policy: said by each of them, from when it can perform effects. */

import { policyStream } from "../kernel/stream.ts";
import type { Draft, Need } from "../kernel/transaction.ts";

/** One version, and where the process has it from. */
export type UsedVersion = { readonly name: string; readonly digest: string; readonly source: string };
export type User = { readonly epoch: string; readonly by: string };

/** From now on, until its epoch ends or it says otherwise. */
export function takePolicy(
  draft: Draft,
  { name, digest, source }: UsedVersion,
  user: User,
): Need | undefined {
  const ref = policyStream(name);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  draft.append(ref, [{ type: "policy.taken", tv: 1, body: { digest, source, ...user } }]);
  return undefined;
}

/** No longer, though the process lives on: another version, or a policy of another name, took its place. */
export function leavePolicy(
  draft: Draft,
  { name, digest }: Pick<UsedVersion, "name" | "digest">,
  { epoch }: Pick<User, "epoch">,
): Need | undefined {
  const ref = policyStream(name);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  draft.append(ref, [{ type: "policy.left", tv: 1, body: { digest, epoch } }]);
  return undefined;
}
