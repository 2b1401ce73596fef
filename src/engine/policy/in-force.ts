/**
 * The versions that this instance judges by, as the journal is told: with its epoch's first entry, or as soon as another
 * comes into force or goes out of it.
 *
 * I1. A version is in the journal before it is said to be used.
 * I2. A process that performs nothing judges nothing, and is not told of.
 */
import { leavePolicy, takePolicy, type UsedVersion } from "../../core/policy-use.ts";
import { policyStream } from "../../core/stream.ts";
import { runCommand } from "../run-command.ts";
import type { PolicyUse, Runtime } from "../runtime.ts";

const keyOf = ({ name, digest }: UsedVersion): string => `${name} ${digest}`;

/** The version has been adopted. */
export async function putInForce(runtime: Runtime, version: UsedVersion): Promise<void> {
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

export async function takeOutOfForce(runtime: Runtime, version: UsedVersion): Promise<void> {
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
