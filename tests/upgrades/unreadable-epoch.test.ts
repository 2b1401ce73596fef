/** An epoch that a newer version has written to: an older node leaves it alone, and takes over from the others that died. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { HoldpointError, isHoldpointError } from "../../src/kernel/errors.ts";
import { listNodes } from "../../src/runtime/epochs.ts";
import { type Desk, office } from "../workflows/office.ts";

/** What the store says to an older program that asks for the stream of such an epoch. */
function cannotRead({ store }: Desk, id: string): void {
  const { transact } = store;
  const refusing: typeof transact = (tenant, needs, decide) =>
    needs.write?.some((ref) => ref.id === id)
      ? Promise.reject(new HoldpointError("unknown_event", `A newer version wrote to epoch/${id}.`))
      : transact(tenant, needs, decide);
  Object.assign(store, { transact: refusing });
}

const unread = (desk: Desk) =>
  desk.notices.filter(
    (one) => one.kind === "maintenance_failed" && isHoldpointError(one.error, "unknown_event"),
  );

/** A process in the midst of a workflow. */
async function atWork(place: ReturnType<typeof office>) {
  const desk = place.open();
  const flow = desk.workflow("errand", {}, (ctx) =>
    ctx.step("hang", () => new Promise<void>(() => undefined)),
  );
  const { id } = await flow.start({});
  const epoch = await place.until(async () => (await desk.workflows.get(id)).runner ?? undefined);
  await place.pass(1_000);
  return { desk, id, epoch };
}

test("an epoch that an older node cannot read keeps it from no workflow of others that died, and is told of once", async () => {
  const place = office();
  const [strange, plain] = [await atWork(place), await atWork(place)];
  for (const { desk } of [strange, plain]) desk.crash();
  const older = place.open();
  cannotRead(older, strange.epoch);
  older.workflow("errand", {}, (ctx) => ctx.step("hang", () => "done"));
  await older.work();
  await place.finish(older.workflows.result(plain.id));
  await place.pass(120_000);
  assert.equal((await older.workflows.get(strange.id)).runner, strange.epoch);
  // By the dispatcher, and by whoever looks for dead nodes.
  assert.equal(unread(older).length, 2);
  await place.finish(older.close());
});

test("an epoch that an older node cannot read does not keep it from saying of other nodes that they died", async () => {
  const place = office();
  const desks = [place.open(), place.open(), place.open()];
  const epochs: string[] = [];
  for (const { runtime } of desks) epochs.push((await runtime.epoch()).id);
  await place.pass(1_000);
  for (const desk of desks) desk.crash();
  const older = place.open();
  const [first, middle = "", last] = epochs;
  cannotRead(older, middle);
  const own = await older.runtime.epoch();
  await place.pass(1_000);
  const { items } = await listNodes(older.runtime);
  assert.deepEqual(
    items.map(({ id, status }) => [id, status]),
    [
      [own.id, "live"],
      [middle, "lapsed"],
    ],
    `${first} and ${last} have ended`,
  );
  await place.finish(older.close());
});
