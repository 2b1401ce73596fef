/** Suggestions beside other work, one search at a time in an instance: it goes over the whole journal, twice. */
import { HoldpointError } from "../kernel/errors.ts";
import { createYieldCheck } from "../runtime/concurrency.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Store } from "../stores/store.ts";

import { type Suggestions, suggestRules } from "./suggest-rules.ts";

export type FreshSuggestions = Suggestions & {
  /** How far the store's journal was when they were looked for. */
  readonly position: number;
};

/** A hundredth more of the journal may say something else. */
const MOVED_SHARE = 100;
const LOOK_AGAIN_SECONDS = 5;

const searching = new WeakSet<Runtime>();

export async function freshSuggestions(runtime: Runtime, min: number): Promise<FreshSuggestions> {
  if (searching.has(runtime))
    throw new HoldpointError("rate_limited", "Suggestions are being looked for already.", {
      details: { retry_after: LOOK_AGAIN_SECONDS },
    });
  searching.add(runtime);
  try {
    const position = await runtime.store.position();
    return { ...(await suggestRules(runtime, { min, pace: createYieldCheck(runtime) })), position };
  } finally {
    searching.delete(runtime);
  }
}

export async function areStillFresh(
  { store }: { readonly store: Pick<Store, "position"> },
  { position }: Pick<FreshSuggestions, "position">,
): Promise<boolean> {
  const moved = (await store.position()) - position;
  return moved * MOVED_SHARE <= position;
}
