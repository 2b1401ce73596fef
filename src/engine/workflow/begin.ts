/** The definition at work: begun, or rehearsed over what is recorded without doing anything new. */
import { capturedOf } from "../../core/workflow/captured-of.ts";
import type { ReachedBody } from "../../core/workflow/events.ts";
import { loadValue } from "../../runtime/store-access.ts";
import { openSnapshot } from "../capture.ts";
import { type Attempt, runWithContext } from "./context.ts";
import type { SentBack } from "./definition.ts";
import { awaitRecorded, deliver } from "./drive.ts";
import { makeBranch } from "./operation.ts";
import { keyOf, type RecordedRollback } from "./recorded.ts";
import { noteSecrets } from "./redact.ts";
import { makeBell, type Run } from "./run.ts";

async function sentBackBy(run: Run, rollback: RecordedRollback): Promise<SentBack> {
  const { to, toSeq, generation, ...said } = rollback;
  const target = to === null ? undefined : run.table.ops.get(keyOf(to));
  if (target === undefined) return { ...said, lastApprovedCheckpoint: null, restored: null };
  const { name, snapshot } = target.body as unknown as ReachedBody;
  const restored = { ...capturedOf(await openSnapshot(run.runtime, snapshot.hash)) };
  return { ...said, lastApprovedCheckpoint: name, restored };
}

/** What the definition is told of its attempts, each from the entry on that it went back to. */
async function attemptsOf(run: Run): Promise<readonly Attempt[]> {
  return Promise.all(
    run.table.rollbacks.map(async (rollback) => ({
      fromSeq: rollback.toSeq,
      number: rollback.generation,
      sentBack: await sentBackBy(run, rollback),
    })),
  );
}

/** Begins the definition; its end rings the bell. */
export async function beginDefinition(run: Run): Promise<void> {
  const whole = { run, branch: makeBranch(""), attempts: await attemptsOf(run) };
  const input = structuredClone(await loadValue(run.runtime, run.state.input));
  noteSecrets(run, input);
  const end = (ending: Run["ending"]) => {
    run.ending = ending;
    run.bell.ring();
  };
  Promise.resolve()
    .then(() => runWithContext(whole, (context) => run.definition.body(context, input)))
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
    over: new AbortController(),
    changed: null,
    ending: null,
    lane: Promise.resolve(),
    bell: makeBell(),
  };
  await beginDefinition(dry);
  if ((await deliver(dry)) === undefined) await awaitRecorded(dry);
  dry.turned = true;
}
