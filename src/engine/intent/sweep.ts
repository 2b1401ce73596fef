/** Announces intents that nobody has answered in time. A late answer is refused with or without it. */
import { passIntentTime } from "../../core/intent/end.ts";
import { intentStream } from "../../kernel/stream.ts";
import { forEachReadable } from "../../runtime/lists.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { runCommand } from "../../runtime/store-access.ts";

const MOST_AT_ONCE = 200;
/** Of several processes one announces each; if it dies, another one does after this time. */
const LEASE_MS = 10_000;

export async function sweepIntents(runtime: Pick<Runtime, "store" | "tenant" | "clock">): Promise<void> {
  const due = { view: "intent_times", bucket: "open", dueBy: runtime.clock.now(), limit: MOST_AT_ONCE };
  const rows = await runtime.store.claim(runtime.tenant, { ...due, leaseMs: LEASE_MS });
  await forEachReadable(rows, ({ stream: { id } }) =>
    runCommand(runtime, { write: [intentStream(id)] }, (draft) => passIntentTime(draft, id)),
  );
}
