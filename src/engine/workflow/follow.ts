/** A workflow's entries as they are written, whoever writes them. */
import { workflowStream } from "../../kernel/stream.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { entriesOf } from "./entries.ts";
import type { Entry } from "./recorded.ts";
import { workflowState } from "./workflows.ts";

/** From the first entry to the one that ends it, unless the signal or the instance's close comes first. */
export async function* followWorkflow(
  runtime: Runtime,
  id: string,
  signal: AbortSignal,
): AsyncGenerator<Entry> {
  const watch = await runtime.waker.watch([workflowStream(id)]);
  const aborted = new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  try {
    for (let seen = 0; ; ) {
      const { end } = await workflowState(runtime, id);
      for await (const entry of entriesOf(runtime, id, seen + 1)) {
        if (signal.aborted) return;
        yield entry;
        seen = entry.seq;
      }
      if (end !== null || signal.aborted || runtime.closing.aborted) return;
      await Promise.race([watch.moved(null), aborted]);
    }
  } finally {
    watch.close();
  }
}
