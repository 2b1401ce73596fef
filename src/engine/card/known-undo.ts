/** Whether what an action of a workflow did would be taken back, as far as this process knows. */
import type { LiveAction } from "../../core/action/state.ts";
import { isStep } from "../../core/action/within.ts";
import type { KnownUndo } from "../../core/card/effect-words.ts";
import type { CallUndo } from "../../core/workflow/events.ts";
import type { Runtime } from "../runtime.ts";

const OF_CALL: { readonly [undo in CallUndo]: KnownUndo } = {
  agent: "has",
  here: "has",
  none: "none",
  nothing: "nothing",
};

function byTool({ tools }: Pick<Runtime, "tools">, name: string): KnownUndo {
  const known = tools.get(name);
  if (known === undefined) return "not_known";
  if (known.undo === "nothing") return "nothing";
  return known.undo === null ? "none" : "has";
}

/** Whoever named a tool that nobody declared, or one that only reads, could name any: it spares nobody a look. */
function byAgent({ tools }: Pick<Runtime, "tools">, name: string): KnownUndo {
  const known = tools.get(name);
  return known === undefined || known.rules.effectClass === "read" ? "claimed" : "named";
}

/** `call`: what its workflow recorded with the call, where an agent drives it. */
export function knownUndo(
  runtime: Pick<Runtime, "tools">,
  { effectClass, within, undo, tool }: LiveAction,
  call: CallUndo | undefined,
): KnownUndo {
  if (effectClass === "read") return "nothing";
  // What takes something back is not itself taken back.
  if (within === undefined || within.undoes !== null) return "none";
  if (undo !== undefined) return byAgent(runtime, undo.tool);
  if (call !== undefined) return OF_CALL[call];
  return isStep(within.op, tool) ? "not_known" : byTool(runtime, tool);
}
