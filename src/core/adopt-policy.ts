/** The commit that puts a version of a policy in force. */

import type { Json } from "../kernel/json.ts";
import { policyStream } from "../kernel/stream.ts";
import type { Draft, Need } from "../kernel/transaction.ts";

export type AdoptPolicy = {
  readonly name: string;
  readonly digest: string;
  readonly document: Json;
  readonly by: string;
  readonly source: string;
};

export type Adopted = { readonly kind: "adopted" | "in_force"; readonly before: string | null };

/** Says that a document is in force from now on, unless it is already. */
export function adoptPolicy(draft: Draft, command: AdoptPolicy): Need | Adopted {
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
