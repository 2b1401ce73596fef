/** What finds workflows that have something to do, as others know it. */
import type { Notice } from "../../runtime/notices.ts";
import type { Definition } from "./definition.ts";

/** Told about what one workflow waits for, beside the instance's own listener. */
export type Listener = (notice: Notice) => unknown;

export type Dispatcher = {
  /** Runs this workflow here, if nobody else does. One that was there before is told about again. */
  run(
    id: string,
    definition: Definition,
    told: { readonly listener: Listener | undefined; readonly isFoundAgain: boolean },
  ): void;
  /** While it runs here: resolves when this process has let go of it. */
  running(id: string): Promise<void> | undefined;
  /** Runs it if there is something to do. */
  offer(id: string): void;
  /** Looks for work until closing. */
  work(): void;
  /** Takes nothing new from now on; what runs here goes on. */
  rest(): void;
};
