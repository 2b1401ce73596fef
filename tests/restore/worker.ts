/**
 * The program whose store is restored. It leaves something open in every way, waits for the backup to be made, ends all of
 * it and does one thing more; then it is closed, or killed.
 */
import { createInterface } from "node:readline";
import { admin } from "../../src/admin.ts";
import { type Holdpoint, holdpoint } from "../../src/index.ts";
import { pendingApproval } from "../fixtures/folder.ts";
import { type Kind, orderOf, SLOW, toolsOn } from "./tools.ts";

export type Task = {
  readonly where: { readonly folder: string } | { readonly database: string };
  readonly keyFile: string;
  readonly port: number;
  readonly round: number;
};

const SAID = { by: "person:ann", reason: "drill", agent: "drill" };
const task = JSON.parse(process.argv[2] ?? "{}") as Task;
const hp: Holdpoint = holdpoint({
  ...task.where,
  keyFile: task.keyFile,
  agent: "drill",
  notify: () => undefined,
});
const said = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const say = (line: string) => process.stdout.write(`${line}\n`);
const released = Promise.withResolvers<void>();
const sent = new Map(SLOW.map((kind) => [orderOf(task.round, kind), Promise.withResolvers<void>()]));

const tools = toolsOn(hp, task.port, async (order) => {
  sent.get(order)?.resolve();
  await released.promise;
});
const call = (kind: Kind, waitMs: number | null = null) => {
  const order = orderOf(task.round, kind);
  return tools.of(kind)({ order }, { requestId: order, ...(waitMs === null ? {} : { waitMs }) });
};
const approve = async (order: string) => {
  const { approval } = (await hp.actions.get(order)) as { approval?: string };
  await hp.approvals.approve(approval ?? (await pendingApproval(hp)), { by: "person:bob" });
};

await call("before");
const running = SLOW.map((kind) => call(kind));
await Promise.all([...sent.values()].map(({ promise }) => promise));
await call("given", 0);
await approve(orderOf(task.round, "given"));
await call("asked", 0);
await hp.pause(SAID);
await call("held");
say("open");

await said.next();
await hp.resume(SAID);
released.resolve();
await Promise.all(running);
await call("given");
await call("held");
await approve(orderOf(task.round, "asked"));
await call("asked");
await call("after");
await admin(hp).seals.create();
say("done");

await said.next();
await hp.close();
process.exit(0);
