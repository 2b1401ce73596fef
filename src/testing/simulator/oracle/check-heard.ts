/** Replay: what a definition hears is what the journal holds, in the journal's order, in every run. */
import { digestOf } from "../../../kernel/canonical-json.ts";
import type { Json, JsonObject } from "../../../kernel/json.ts";

import type { Heard, Sim } from "../sim.ts";
import { type Commit, type Event, expect, type SeenTenant, text } from "./seen.ts";
import { keyOf, type SeenFlow } from "./seen-flow.ts";

const WHAT: { readonly [type: string]: (body: JsonObject) => string | undefined } = {
  "step.completed": ({ result }) => digestOf(result as Json),
  "step.failed": () => "failed",
  "sleep.ended": () => "slept",
  "call.settled": ({ action, answer }) => `${text(action)} ${text((answer as JsonObject)["executed"])}`,
  "child.ended": ({ status, result }) => (status === "failed" ? "failed" : digestOf(result as Json)),
  "question.answered": ({ status, answer }) =>
    status === "answered" ? digestOf(answer as Json) : text(status),
  "checkpoint.passed": ({ outputs }) => digestOf(outputs as Json),
  "checkpoint.decided": ({ decision, outputs }) =>
    decision === "approved" || decision === "modified" ? digestOf(outputs as Json) : undefined,
};

/** An answer is written down. One for an operation that was gone back over is heard by nobody. */
export function settle(_commit: Commit, event: Event, flow: SeenFlow): void {
  const what = WHAT[event.type]?.(event.body);
  const op = text(event.body["op"]);
  const key = keyOf(op);
  if (what === undefined || flow.opened.get(key)?.op !== op) return;
  const settled = flow.settled.get(flow.generation) ?? [];
  if (!settled.some((one) => one.op === op)) settled.push({ key, op, seq: event.seq, what });
}

export function checkHeard(sim: Sim, seen: SeenTenant, heard: Heard): void {
  const { workflow, attempt, index, key, what } = heard;
  const said = seen.flows.get(workflow)?.settled.get(attempt)?.[index];
  const is = said === undefined ? "nothing" : `${said.key} ${said.what}`;
  const same = said?.key === key && (said.what === what || said.what.endsWith(` ${what}`));
  expect(
    { sim },
    same,
    "replay",
    `${workflow} heard ${key} ${what} as answer ${index}, and the journal has ${is}`,
  );
  checkReceipt(sim, seen, heard);
}

/** An effect that was taken back is nobody's answer any more. */
function checkReceipt(sim: Sim, seen: SeenTenant, { workflow, key, what }: Heard): void {
  const action = what.split(" ")[0] ?? "";
  const isUndone = seen.flows.get(workflow)?.gone.has(action) === true;
  expect({ sim }, !isUndone, "replay", `${workflow} heard ${key} from ${action}, which was undone`);
}
