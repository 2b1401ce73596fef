/** One executing process: begins workflows, takes over what others left, and goes on until it is killed. */
import { flushCompileCache } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { holdpoint, isHoldpointError, type Notice } from "../../../src/index.ts";
import { errorText } from "../../../src/kernel/text.ts";
import { createReceiver } from "../receiver.ts";
import { optionsOf } from "../setup.ts";
import { defineRelease } from "./definition.ts";
import { createArrival, type Go, listen, readSetup, report, TAKEN_FOR_DEAD } from "./messages.ts";
import { createWhereabouts } from "./whereabouts.ts";

const setup = readSetup();
const arrival = createArrival();
const where = createWhereabouts(arrival.arrive);

function fail(what: string, error: unknown): void {
  if (isHoldpointError(error, "epoch_ended")) process.exit(TAKEN_FOR_DEAD);
  if (!(isHoldpointError(error) && error.retryable))
    report({ kind: "wrong", what: `${what}: ${errorText(error)}` });
}

/** Everything that is not in order is a fault of the run. */
function notify(notice: Notice): void {
  if (notice.kind === "maintenance_failed" || notice.kind === "outcome_unrecorded")
    fail(notice.kind, notice.error);
  if (notice.kind === "definition_changed")
    report({ kind: "wrong", what: `${notice.workflow} is said to have changed: ${notice.difference}` });
}

/** The store's own trouble passes. */
async function patiently(ask: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await ask();
      return;
    } catch (error) {
      if (!(isHoldpointError(error) && error.retryable)) return fail("a workflow does not start", error);
      await sleep(100);
    }
  }
}

async function work(go: Go): Promise<void> {
  arrival.take(go);
  const hp = holdpoint({ ...(await optionsOf(setup)), agent: go.name, notify, reach: where.reach });
  const receiver = createReceiver(setup.port);
  const release = defineRelease({ hp, receiver, where, plant: go.plant });
  hp.work().catch((error: unknown) => fail("work", error));
  hp.recover().catch((error: unknown) => fail("recover", error));
  const begin = (n: number) => where.starting(n, () => release.start({ n }, { requestId: `release-${n}` }));
  await Promise.all(go.starts.map((n) => patiently(() => begin(n))));
  report({ kind: "running" });
}

flushCompileCache();
listen((go) => void work(go).catch((error: unknown) => fail("the worker", error)));
