/** Which approvals move, as they move, whoever moves them. */
import type { Runtime } from "./runtime.ts";

/**
 * The first turn comes at once and is empty: whatever is read from then on, no later change is missed. Ends when the
 * signal aborts.
 */
export async function* followApprovals(
  place: Pick<Runtime, "store" | "tenant">,
  signal: AbortSignal,
): AsyncGenerator<readonly string[]> {
  let position = await place.store.position();
  yield [];
  while (!signal.aborted) {
    const moved = await place.store.follow(position, signal);
    position = moved.position;
    const ids = moved.streams
      .filter(({ tenant, stream }) => tenant === place.tenant && stream.kind === "approval")
      .map(({ stream }) => stream.id);
    if (ids.length > 0) yield [...new Set(ids)];
  }
}
