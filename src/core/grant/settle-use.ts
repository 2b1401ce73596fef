/** A use of a standing grant: counted in the commit that starts the effect, given back when it certainly did nothing. */
import type { Grant } from "../action/events.ts";
import type { Draft } from "../draft.ts";
import { grantStream, type StreamRef } from "../stream.ts";

type Standing = Extract<Grant, { kind: "standing" }>;
type Used = { readonly action: string; readonly effect: string; readonly grant: Grant };

const useOf = ({ action, effect }: Used, { amount }: Standing) => ({ action, effect, amount });

/** The stream of the grant that let it start; none where something else did. */
export const grantsOf = (grant: Grant): readonly StreamRef<"grant">[] =>
  grant.kind === "standing" ? [grantStream(grant.grant)] : [];

export function countUse(draft: Draft, used: Used): void {
  const { grant } = used;
  if (grant.kind !== "standing") return;
  draft.append(grantStream(grant.grant), [{ type: "grant.used", tv: 1, body: useOf(used, grant) }]);
}

/** For an effect that was certainly not applied; one in doubt keeps its use. */
export function returnUse(draft: Draft, used: Used): void {
  const { grant } = used;
  if (grant.kind !== "standing") return;
  draft.append(grantStream(grant.grant), [{ type: "grant.returned", tv: 1, body: useOf(used, grant) }]);
}
