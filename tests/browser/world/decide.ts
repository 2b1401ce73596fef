/** Agents that propose and people that decide, with nobody waiting for anybody. */

import type { Holdpoint } from "../../../src/index.ts";
import { randomFrom } from "../../server/sample.ts";
import type { SetTime } from "../time.ts";

export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

export type Proposed = {
  readonly tool: string;
  readonly args: unknown;
  readonly agent: string;
  readonly rationale?: string;
};

export type Outcome =
  | { readonly kind: "approve"; readonly by: string; readonly note?: string; readonly edit?: unknown }
  | { readonly kind: "reject"; readonly by: string; readonly reason: string };

/** What happens one after the other, at times of its own. */
export type Scene = {
  readonly hp: Holdpoint;
  readonly time: SetTime;
  readonly random: () => number;
};

export const sceneOf = (hp: Holdpoint, time: SetTime, seed: number): Scene => ({
  ...{ hp, time, random: randomFrom(seed) },
});

let proposals = 0;

/** Answers the approval that waits for it; undefined where nobody is asked. */
export async function propose({ hp }: Pick<Scene, "hp">, proposed: Proposed) {
  proposals += 1;
  return hp.remote.propose({ ...proposed, requestId: `request-${proposals}` });
}

/** The same again after `afterMs`, decided, and then performed where people agreed. */
export async function decided(
  scene: Scene,
  proposed: Proposed,
  outcome: Outcome,
  afterMs: number,
): Promise<void> {
  const { hp, time } = scene;
  const answer = await propose(scene, proposed);
  if (answer.status !== "pending" || answer.waitingFor !== "approval") return;
  time.at(Date.now() + afterMs);
  const { kind, ...said } = outcome;
  if (kind === "approve") await hp.approvals.approve(answer.approval, said);
  else await hp.approvals.reject(answer.approval, { reason: "no", ...said });
  time.at(Date.now() + 5_000);
  if (kind === "approve") await hp.remote.start(answer.action, { agent: proposed.agent });
}
