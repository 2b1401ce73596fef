import { isHoldpointError } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import { loadValue } from "../../runtime/store-access.ts";
import type { Store } from "../../stores/store.ts";

/** Arguments as they were; undefined: they were kept apart and are gone. */
export async function argsIn(
  place: { readonly store: Store; readonly tenant: string },
  kept: Json,
): Promise<Json | undefined> {
  try {
    return await loadValue(place, kept);
  } catch (error) {
    if (isHoldpointError(error, "store_corrupt")) return undefined;
    throw error;
  }
}
