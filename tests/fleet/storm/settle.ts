/** After the last blow: waits until everything has ended or waits for somebody, and ends doubts by the receiver's word. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Holdpoint, isHoldpointError } from "../../../src/index.ts";
import type { Store } from "../../../src/stores/store.ts";
import type { Received } from "../../crash/effects.ts";
import { tail } from "../../crash/told.ts";
import { appliedByKey } from "./check-effects.ts";
import { checkLiveness } from "./check-liveness.ts";
import type { JournalReader } from "./watch.ts";

export type Doubt = { readonly effect: string; readonly tool: string; readonly applied: boolean };

type Desk = {
  readonly hp: Holdpoint;
  readonly store: Store;
  readonly journal: JournalReader;
  readonly log: string;
};

export type Settled = {
  readonly wrong: readonly string[];
  readonly doubts: readonly Doubt[];
  readonly ms: number;
};

/** Longer than any send that was under way, and than a probe needs to be sure. */
const QUIET_MS = 12_000;
const LOOK_MS = 500;
export const BOUND_MS = 180_000;

function doubtsIn({ journal, log }: Desk): readonly Doubt[] {
  const applied = appliedByKey(tail<Received>(log)());
  return [...journal.actions.values()].flatMap((state) =>
    state.phase === "in_doubt" && state.effectClass !== "probed"
      ? [{ effect: state.effect.id, tool: state.tool, applied: applied.has(state.effect.id) }]
      : [],
  );
}

async function resolve({ hp }: Desk, { effect, applied }: Doubt): Promise<void> {
  const status = applied ? "applied" : "not_applied";
  const said = { status, by: "person:ann", reason: "the receiver's log" } as const;
  await hp.actions.resolve(effect, said).catch((error: unknown) => {
    if (!isHoldpointError(error)) throw error;
  });
}

/** What nobody can tell is told by a person who has looked; nothing else is helped along. */
export async function settle(desk: Desk): Promise<Settled> {
  const begun = performance.now();
  const wrong: string[] = [];
  const doubts = new Map<string, Doubt>();
  for (;;) {
    wrong.push(...(await desk.journal.read(desk.store)));
    const ms = performance.now() - begun;
    const found = ms < QUIET_MS ? [] : doubtsIn(desk);
    for (const doubt of found) {
      doubts.set(doubt.effect, doubt);
      await resolve(desk, doubt);
    }
    const isQuiet = checkLiveness({ told: [], received: [], journal: desk.journal }).length === 0;
    if (ms >= BOUND_MS || (isQuiet && ms >= QUIET_MS && found.length === 0))
      return { wrong, doubts: [...doubts.values()], ms };
    await sleep(LOOK_MS);
  }
}
