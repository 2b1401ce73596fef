/**
 * A workflow that was asked for by its name alone, when somebody takes it up who has its definition.
 *
 * D1. What the definition adds is said once, in the commit in which the workflow begins.
 * D2. An input that does not fit ends it, with what is wrong in words. Nothing of it has begun then.
 */

import type { Json } from "../../kernel/json.ts";
import { workflowStream } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";

import type { DefinedBody } from "./events.ts";
import { type Failure, failWorkflow } from "./fail.ts";
import type { LiveWorkflow } from "./state.ts";

/** What whoever has the definition makes of the input. */
export type Defining =
  | { readonly kind: "fits"; readonly body: Omit<DefinedBody, "input"> & { readonly input: Json } }
  | ({ readonly kind: "unfit" } & Pick<Failure, "code" | "reason" | "by">);

type NotBegun = { readonly kind: "undefined" | "left"; readonly state: LiveWorkflow };

const live = (draft: Draft, id: string): LiveWorkflow => draft.state(workflowStream(id)) as LiveWorkflow;

/** undefined: it may begin. The caller has locked it. */
export function takeUpRequest(
  draft: Draft,
  id: string,
  defining: Defining | undefined,
): Need | NotBegun | undefined {
  const state = live(draft, id);
  if (state.requested === undefined || state.requested.isDefined) return undefined;
  if (defining === undefined) return { kind: "undefined", state };
  if (defining.kind === "unfit") {
    const { code, reason, by } = defining;
    const more = failWorkflow(draft, id, { code, reason, by, report: null });
    return more ?? { kind: "left", state: live(draft, id) };
  }
  const body = { ...defining.body, input: draft.keep(defining.body.input) };
  draft.append(workflowStream(id), [{ type: "workflow.defined", tv: 1, body }]);
  return undefined;
}
