/** What the actions of a list were proposed with: as much of it as somebody looks at. */

import { shortFieldsFirst } from "../../kernel/canonical-json.ts";
import type { Json } from "../../kernel/json.ts";
import { actionStream } from "../../kernel/stream.ts";
import { neverYield, type YieldCheck } from "../../runtime/concurrency.ts";
import type { Store } from "../../stores/store.ts";
import { argsIn } from "./args-in.ts";

type Place = { readonly store: Store; readonly tenant: string };

/** The beginning, as JSON with short fields first, and how many characters there are. */
export type ListedArgs = { readonly text: string; readonly characters: number };

export const MOST_CHARACTERS = 2_000;

async function proposedWith(place: Place, action: string): Promise<ListedArgs | null> {
  const [first] = await place.store.read(place.tenant, actionStream(action), { limit: 1 });
  if (first === undefined || first.body === null) return null;
  const args = await argsIn(place, (JSON.parse(first.body) as { readonly args: Json }).args);
  if (args === undefined) return null;
  const text = shortFieldsFirst(args);
  return { text: text.slice(0, MOST_CHARACTERS).toWellFormed(), characters: text.length };
}

/** By action; null where they were erased or are gone. */
export async function listedArgs(
  place: Place,
  actions: Iterable<string>,
  pace: YieldCheck = neverYield,
): Promise<ReadonlyMap<string, ListedArgs | null>> {
  const found = new Map<string, ListedArgs | null>();
  for (const action of actions) {
    found.set(action, await proposedWith(place, action));
    await pace();
  }
  return found;
}
