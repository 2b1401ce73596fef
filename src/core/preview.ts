/** What a tool shows of a call before it is made, as it is handed around. */
import type { Json } from "./json.ts";

/** What the engine computed: what the tool answered, or the text of its failure. */
export type Shown = { readonly value: Json; readonly failed: boolean };
/** As it stands in a question; large ones as a reference. */
export type Preview = Shown & { readonly digest: string };

/** A call as a tool's `preview` is told of it; `args` are those that would run. */
export type PreviewCall = {
  readonly action: string;
  readonly requestId: string | null;
  readonly agent: string;
  readonly args: Json;
};
