/**
 * The versions that this instance judges by, as the journal is told: with its epoch's first entry, or as soon as another
 * comes into force or goes out of it.
 *
 * I1. A version is in the journal before it is said to be used.
 * I2. A process that performs nothing judges nothing, and is not told of.
 * I3. What is taken and left at the same time is told in the order in which it was asked for.
 */
import { leavePolicy, takePolicy, type UsedVersion } from "../../core/policy-use.ts";
import { policyStream } from "../../kernel/stream.ts";
import type { PolicyUse, Runtime } from "../../runtime/runtime.ts";
import { runCommand } from "../../runtime/store-access.ts";

const keyOf = ({ name, digest }: UsedVersion): string => `${name} ${digest}`;

const turns = new WeakMap<Runtime, Promise<void>>();

/** One after the other; what fails is the asker's to hear of, and holds nobody up. */
function inTurn(runtime: Runtime, tell: () => Promise<void>): Promise<void> {
  const mine = (turns.get(runtime) ?? Promise.resolve()).then(tell);
  turns.set(
    runtime,
    mine.catch(() => undefined),
  );
  return mine;
}

/** The version has been adopted. */
export const putInForce = (runtime: Runtime, version: UsedVersion): Promise<void> =>
  inTurn(runtime, () => put(runtime, version));

export const takeOutOfForce = (runtime: Runtime, version: UsedVersion): Promise<void> =>
  inTurn(runtime, () => takeOut(runtime, version));

async function put(runtime: Runtime, version: UsedVersion): Promise<void> {
  const { inForce, agent: by } = runtime;
  const known = inForce.get(keyOf(version));
  if (known !== undefined) {
    known.count += 1;
    return;
  }
  const use: PolicyUse = { version, count: 1, epoch: null };
  inForce.set(keyOf(version), use);
  const epoch = await runtime.begunEpoch();
  if (epoch === undefined || use.epoch !== null) return;
  await runCommand(runtime, { write: [policyStream(version.name)] }, (draft) =>
    takePolicy(draft, version, { epoch: epoch.id, by }),
  );
  use.epoch = epoch.id;
}

async function takeOut(runtime: Runtime, version: UsedVersion): Promise<void> {
  const { inForce } = runtime;
  const use = inForce.get(keyOf(version));
  if (use === undefined || --use.count > 0) return;
  inForce.delete(keyOf(version));
  const epoch = await runtime.begunEpoch();
  if (epoch === undefined) return;
  await runCommand(runtime, { write: [policyStream(version.name)] }, (draft) =>
    leavePolicy(draft, version, { epoch: epoch.id }),
  );
}
