/**
 * Requests an operation: resolved from the journal if it is recorded, started if it is new. Also tells whether a
 * workflow has already passed a point of its definition.
 */

import { refuseInside } from "../../effects/call-context.ts";
import { type ErrorCode, HoldpointError } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import { ignoreRejection } from "../../runtime/concurrency.ts";
import type { OpKind, RecordedOp, Settlement } from "../rules/operations.ts";
import type { WorkflowRun } from "./run.ts";

/** A branch of a definition counts its operations by name. */
export type Branch = { readonly path: string; readonly counts: Map<string, number> };

export const makeBranch = (path: string): Branch => ({ path, counts: new Map() });

const OPERATION_NAME = /^[^\s/#][^/#\n\r]{0,99}$/u;

export function checkName(what: string, name: unknown): string {
  if (typeof name === "string" && name.isWellFormed() && OPERATION_NAME.test(name)) return name;
  throw new HoldpointError(
    "invalid_input",
    `The name of a ${what} is a text of 1 to 100 characters without / and #, and does not begin with a space.`,
  );
}

export function nextKey({ path, counts }: Branch, name: string): string {
  const occurrence = (counts.get(name) ?? 0) + 1;
  counts.set(name, occurrence);
  return `${path}/${name}#${occurrence}`;
}

/** The id of an operation that is recorded, or that this generation would record. */
export function opId(run: WorkflowRun, key: string): string {
  return run.table.ops.get(key)?.op ?? `${run.id}/${run.state.generation}/${key}`;
}

type OperationRequest<Value> = {
  readonly kind: OpKind;
  readonly name: string;
  /** Compares the request with the recorded operation of the same name; returns the difference. */
  readonly differs?: (record: RecordedOp) => string | undefined;
  /** Called as soon as it is requested, recorded or not. */
  readonly asked?: (op: string) => void;
  readonly start: (op: string, record: RecordedOp | null) => Promise<void>;
  readonly read: (settlement: Settlement) => Promise<Value>;
};

/** Thrown into a run whose definition requests something other than the journal has. */
class DefinitionChanged extends Error {
  override readonly name = "DefinitionChanged";
}

function checkSame(record: RecordedOp, key: string, { kind, differs }: OperationRequest<never>): void {
  if (record.kind !== kind)
    throw new DefinitionChanged(`the journal has ${record.kind} "${key}", the definition asks for a ${kind}`);
  const difference = record.settled?.kind === "refused" ? undefined : differs?.(record);
  if (difference !== undefined) throw new DefinitionChanged(difference);
}

async function settledValue<Value>(
  { read }: OperationRequest<Value>,
  settlement: Settlement,
): Promise<Value> {
  if (settlement.kind !== "refused") return read(settlement);
  throw new HoldpointError(settlement.code as ErrorCode, settlement.error);
}

/**
 * Resolves when the operation has settled; never, once the run has turned. A rejection while the definition awaits
 * something else is not an error yet.
 */
export function askOperation<Value>(
  run: WorkflowRun,
  branch: Branch,
  operation: OperationRequest<Value>,
): Promise<Value> {
  refuseInside(run.id, `The ${operation.kind} "${operation.name}"`);
  const key = nextKey(branch, operation.name);
  const record = run.table.ops.get(key);
  run.claimed.add(key);
  const answer = new Promise<Value>((resolve, reject) => {
    if (run.turned || run.changed !== null) return;
    try {
      if (record !== undefined) checkSame(record, key, operation as unknown as OperationRequest<never>);
    } catch (error) {
      // Not thrown into the definition, which might go on from there.
      run.changed = (error as Error).message;
      run.bell.ring();
      return;
    }
    const op = opId(run, key);
    operation.asked?.(op);
    run.asked.set(key, {
      key,
      op,
      kind: operation.kind,
      isStarted: false,
      start: (known) => operation.start(op, known),
      settle: (settlement) => settledValue(operation, settlement).then(resolve, reject),
    });
    run.bell.ring();
  });
  return ignoreRejection(answer);
}

/** A value that is returned at once, and recorded with the next commit. */
export function giveValue(run: WorkflowRun, branch: Branch, name: string, make: () => Json): Json {
  refuseInside(run.id, `ctx.${name.split(" ")[0]}`);
  const key = nextKey(branch, name);
  run.claimed.add(key);
  const record = run.table.ops.get(key);
  if (record?.settled?.kind === "value") return record.settled.value;
  const value = make();
  run.values.push({ type: "value.recorded", tv: 1, body: { op: opId(run, key), value } });
  return value;
}

export const branchOf = (key: string): string => key.slice(0, key.lastIndexOf("/", key.lastIndexOf("#")));

/** A branch within this one, which this one has not begun yet. */
function isStillToBegin({ path, counts }: Branch, inner: string): boolean {
  const start = path === "" ? "" : `${path}.`;
  const begun = counts.get("parallel") ?? 0;
  return inner.startsWith(start) && Number(/^parallel-(\d+)\./.exec(inner.slice(start.length))?.[1]) > begun;
}

/** An outer branch waits for its inner ones: its later operations come after everything in them. */
const isAround = (outer: string, path: string): boolean => outer === "" || `${path}.`.startsWith(`${outer}.`);

/** Sibling branches do not count, and neither do logs, which may come and go. */
export function hasPassed(run: WorkflowRun, branch: Branch): boolean {
  for (const { key, kind } of run.table.ops.values()) {
    if (kind === "log" || run.claimed.has(key)) continue;
    const other = branchOf(key);
    if (isAround(other, branch.path) || isStillToBegin(branch, other)) return true;
  }
  return false;
}
