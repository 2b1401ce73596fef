/** The definition at work: begun, or rehearsed over what is recorded without doing anything new. */
import { capturedOf } from "../../core/workflow/captured-of.ts";
import { openSnapshot } from "../capture.ts";
import { loadValue } from "../read-state.ts";
import { makeContext } from "./context.ts";
import type { SentBack } from "./definition.ts";
import { deliver } from "./drive.ts";
import { makeBranch } from "./operation.ts";
import { makeBell, type Run } from "./run.ts";

async function sentBackOf(run: Run): Promise<SentBack | null> {
  const { rolledBack, passed, lastDecision } = run.state;
  if (rolledBack === null) return null;
  const target = passed.findLast(({ op }) => op === rolledBack.to);
  const stored = target === undefined ? null : await openSnapshot(run.runtime, target.snapshot.hash);
  return {
    rejectedCheckpoint: rolledBack.rejected === null ? null : (lastDecision?.checkpoint ?? null),
    lastApprovedCheckpoint: target?.name ?? null,
    by: rolledBack.by,
    reason: rolledBack.reason,
    undone: rolledBack.undone,
    irreversible: rolledBack.irreversible.map(({ action }) => action),
    restored: stored === null ? null : { ...capturedOf(stored) },
  };
}

/** Begins the definition; its end rings the bell. */
export async function beginDefinition(run: Run): Promise<void> {
  const context = makeContext({ run, branch: makeBranch(""), sentBack: await sentBackOf(run) });
  const input = structuredClone(await loadValue(run.runtime, run.state.input));
  const end = (ending: Run["ending"]) => {
    run.ending = ending;
    run.bell.ring();
  };
  Promise.resolve()
    .then(() => run.definition.body(context, input))
    .then(
      (value) => end({ kind: "returned", value }),
      (error: unknown) => end({ kind: "threw", error }),
    );
}

/** Only to hear how it would undo its steps: nothing is started, and nothing is written. */
export async function rehearse(run: Run): Promise<void> {
  const dry: Run = {
    ...run,
    next: 0,
    asked: new Map(),
    claimed: new Set(),
    waits: new Map(),
    values: [],
    turned: false,
    changed: null,
    ending: null,
    lane: Promise.resolve(),
    bell: makeBell(),
  };
  await beginDefinition(dry);
  await deliver(dry);
  dry.turned = true;
}
