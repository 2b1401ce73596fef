/** The name of the policy that was asked. What a digest is called never changes, so it is looked up once. */
import type { ReviewFacts } from "../../core/action/events.ts";
import { documentsNamed } from "../../core/action/review-facts.ts";
import type { Store } from "../../stores/store.ts";
import { type PolicyNames, policyNames } from "../backtest/kept-policies.ts";
import type { Runtime } from "../runtime.ts";

type Place = Pick<Runtime, "store" | "tenant">;

const kept = new WeakMap<Store, Map<string, PolicyNames>>();

async function namesFor(place: Place, digests: readonly string[]): Promise<PolicyNames> {
  const all = kept.get(place.store) ?? new Map<string, PolicyNames>();
  kept.set(place.store, all);
  const known = all.get(place.tenant);
  if (known !== undefined && digests.every((digest) => known.has(digest))) return known;
  const names = await policyNames(place);
  all.set(place.tenant, names);
  return names;
}

/** null where only code was asked, or what the documents are called is not known here. */
export async function policyNameOf(
  place: Place,
  asked: Pick<ReviewFacts, "policy" | "documents" | "document">,
): Promise<string | null> {
  const isNamed = asked.documents !== undefined || asked.document !== undefined;
  const digests = documentsNamed(asked);
  // Of older entries the policy may be a document: whatever is known of it then is enough.
  const names = await namesFor(place, isNamed ? digests : []);
  const found = digests.flatMap((digest) => names.get(digest) ?? []);
  return found.length === 0 ? null : [...new Set(found)].join(", ");
}
