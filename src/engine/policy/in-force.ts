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
import type { Runtime } from "../runtime.ts";

/** With the epoch in whose name each was told; null while there is none. */
export type InForce = Map<UsedVersion, string | null>;

const isSame = (one: UsedVersion, other: UsedVersion): boolean =>
  one.name === other.name && one.digest === other.digest;

const others = (inForce: InForce, version: UsedVersion): readonly UsedVersion[] =>
  [...inForce.keys()].filter((one) => one !== version && isSame(one, version));

/** Each once, however many runs go by it. */
export function distinctVersions(inForce: InForce): readonly UsedVersion[] {
  return [...inForce.keys()].filter((one, at, all) => all.findIndex((other) => isSame(one, other)) === at);
}

/** The version has been adopted. */
export async function putInForce(runtime: Runtime, version: UsedVersion): Promise<void> {
  const { inForce, agent: by } = runtime;
  const isKnown = others(inForce, version).length > 0;
  inForce.set(version, null);
  const epoch = await runtime.begunEpoch();
  if (epoch === undefined || isKnown || inForce.get(version) !== null) return;
  await runCommand(runtime, { write: [policyStream(version.name)] }, (draft) =>
    takePolicy(draft, version, { epoch: epoch.id, by }),
  );
  inForce.set(version, epoch.id);
}

export async function takeOutOfForce(runtime: Runtime, version: UsedVersion): Promise<void> {
  const { inForce } = runtime;
  const isElsewhere = others(inForce, version).length > 0;
  if (!inForce.delete(version) || isElsewhere) return;
  const epoch = await runtime.begunEpoch();
  if (epoch === undefined) return;
  await runCommand(runtime, { write: [policyStream(version.name)] }, (draft) =>
    leavePolicy(draft, version, { epoch: epoch.id }),
  );
}
