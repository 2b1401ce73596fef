/** What a definition makes of a workflow that was asked for by its name: all that nobody without it could say. */

import type { Defining } from "../../core/workflow/define.ts";
import type { LiveWorkflow } from "../../core/workflow/state.ts";
import { isHoldpointError } from "../../kernel/errors.ts";
import { errorText } from "../../kernel/text.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { loadValue } from "../../runtime/store-access.ts";

import { creationOf, validInput } from "./create.ts";
import type { Definition } from "./definition.ts";

/** As if it had been started here, but for who asked: a definition's own poster gives way to them. */
function fitting(
  runtime: Runtime,
  definition: Definition,
  input: Parameters<typeof validInput>[1],
  { requester, parties }: LiveWorkflow,
): Defining {
  const poster = parties.poster === null ? {} : { poster: parties.poster };
  const origin = { requestId: null, epoch: null, requester, parties: poster };
  const { body } = creationOf(runtime, definition, validInput(definition, input), origin);
  const { agent, description, version, escrow, complexity, checkpoints } = body;
  const { attempts, rollbackEnabled, onIrreversible } = body;
  return {
    kind: "fits",
    body: {
      ...{ agent, description, version, escrow, complexity, checkpoints },
      ...{ attempts, rollbackEnabled, onIrreversible },
      ...{ requester: body.requester, parties: body.parties, input: body.input },
    },
  };
}

/** Whatever its schema or its functions say against it ends the workflow: nobody waits for an answer here. */
export async function definingOf(
  runtime: Runtime,
  definition: Definition,
  state: LiveWorkflow,
): Promise<Defining> {
  const input = await loadValue(runtime, state.input);
  try {
    return fitting(runtime, definition, input, state);
  } catch (error) {
    const code = isHoldpointError(error, "invalid_args") ? "invalid_args" : "error";
    const reason = isHoldpointError(error) ? error.what : errorText(error);
    return { kind: "unfit", code, reason, by: runtime.agent };
  }
}
