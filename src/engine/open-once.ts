/** A runtime that is opened at the first use and closed once. */
import { HoldpointError } from "../core/errors.ts";
import type { OpenRuntime } from "./open-runtime.ts";

/** What never opened is closed already; whoever tried to open it has been told why. */
async function closeOpened(opening: Promise<OpenRuntime>): Promise<void> {
  const opened = await opening.catch(() => undefined);
  await opened?.close();
}

/** One that could not be opened is tried again at the next use. */
export function openOnce(open: () => Promise<OpenRuntime>) {
  let runtime: Promise<OpenRuntime> | undefined;
  let closed: Promise<void> | undefined;
  return {
    open: (): Promise<OpenRuntime> => {
      if (closed !== undefined)
        return Promise.reject(new HoldpointError("closed", "This instance was closed."));
      runtime ??= open().catch((error: unknown) => {
        runtime = undefined;
        throw error;
      });
      return runtime;
    },
    close: (): Promise<void> => {
      closed ??= runtime === undefined ? Promise.resolve() : closeOpened(runtime);
      return closed;
    },
  };
}
