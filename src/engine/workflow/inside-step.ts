/**
 * Keeps operations out of a step's function: its result is recorded as one thing, and it does not run again in a replay, so
 * that whatever it had asked for would be missing there.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { HoldpointError } from "../../core/errors.ts";

type Inside = { readonly workflow: string; readonly step: string };

const inside = new AsyncLocalStorage<Inside>();

export function insideStep<Value>(workflow: string, step: string, run: () => Value): Value {
  return inside.run({ workflow, step }, run);
}

/** A definition may be begun while the function of some step is at work. */
export function outsideStep<Value>(run: () => Value): Value {
  return inside.exit(run);
}

/** Another workflow that the function starts has operations of its own. */
export function refuseInsideStep(workflow: string, operation: string): void {
  const place = inside.getStore();
  if (place?.workflow !== workflow) return;
  throw new HoldpointError(
    "invalid_input",
    `${operation} was asked for inside the function of the step "${place.step}".`,
    { next: "Ask for it before or after the step, and hand its answer to the function." },
  );
}
