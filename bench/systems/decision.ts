/** Holdpoint: from a person's decision being handed over to the effect's function being entered. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Holdpoint } from "../../src/index.ts";
import { inSequences, now, type OpenSystem, PAYLOAD, type Place } from "../system.ts";
import { openHoldpoint } from "./open-holdpoint.ts";

/** Long enough that the call has settled into waiting. */
const PAUSE_MS = 5;

type Decider = { decide(approval: string): Promise<number>; close(): Promise<void> };

/** Answers with the time at which the decision was handed over. */
function sameProcess(hp: Holdpoint): Decider {
  return {
    decide: async (approval) => {
      const at = now();
      await hp.approvals.approve(approval, { by: "person:ann" });
      return at;
    },
    close: async () => undefined,
  };
}

async function otherProcess(place: Place): Promise<Decider> {
  const child: ChildProcess = fork(join(import.meta.dirname, "decider.ts"), [JSON.stringify(place)]);
  await once(child, "message");
  return {
    decide: async (approval) => {
      const answered = once(child, "message");
      child.send(approval);
      const [at] = await answered;
      return at as number;
    },
    close: async () => {
      const gone = once(child, "exit");
      child.disconnect();
      await gone;
    },
  };
}

export const open: OpenSystem = async (place) => {
  let asked = Promise.withResolvers<string>();
  let entered = 0;
  const hp = openHoldpoint(place, (notice) => {
    if (notice.kind === "waiting") asked.resolve(notice.approval);
  });
  const tool = hp.gate({
    name: "asked",
    policy: "escalate",
    run: ({ payload }: { readonly payload: string }) => {
      entered = now();
      return payload;
    },
  });
  await hp.approvals.list();
  const decider = place.variant === "two-processes" ? await otherProcess(place) : sameProcess(hp);
  let calls = 0;
  const one = async (): Promise<number> => {
    asked = Promise.withResolvers<string>();
    const answer = tool({ payload: PAYLOAD }, { requestId: `decision-${process.pid}-${calls++}` });
    const approval = await asked.promise;
    await sleep(PAUSE_MS);
    const handedOver = await decider.decide(approval);
    const { status } = await answer;
    if (status !== "done") throw new Error("an approved call was not executed");
    return entered - handedOver;
  };
  return {
    servers: place.database === null ? [] : [place.database.pid],
    durability: "asserted by Holdpoint when it opens a store",
    run: (load) => inSequences(load, async () => load.took(await one())),
    close: async () => {
      await decider.close();
      await hp.close();
    },
  };
};
