/**
 * A program that runs a workflow under a monitor, for tests that kill it: at the given place in the given commit, or when
 * its workflow is over. It says what it does, one line each.
 */
import { admin, type MonitorRule } from "../../src/admin.ts";
import { type HoldpointOptions, holdpoint } from "../../src/index.ts";
import { openPostgres, type PostgresSettings } from "../../src/postgres.ts";

type Address =
  | { readonly folder: string; readonly keyFile: string }
  | (PostgresSettings & { keyFile: string });

const [address = "", point = "", at = "0", then = ""] = process.argv.slice(2);
const say = (line: string) => process.stdout.write(`${line}\n`);

async function placeOf({ keyFile, ...place }: Address): Promise<HoldpointOptions> {
  return "folder" in place ? { ...place, keyFile } : { store: await openPostgres(place), keyFile };
}

let reached = 0;
const hp = holdpoint({
  ...(await placeOf(JSON.parse(address) as Address)),
  agent: "worker",
  notify: (notice) => say(`notice ${notice.kind}`),
  reach: (here) => {
    if (here === point && ++reached === Number(at)) process.kill(process.pid, "SIGKILL");
  },
});

const book = hp.gate({
  name: "book",
  policy: "approve",
  effect: "idempotent",
  run: ({ n }: { n: number }) => {
    say(`book ${n}`);
    return n * 10;
  },
});
const flow = hp.workflow("five", async (ctx, _: object) => {
  const done: unknown[] = [];
  for (let n = 1; n <= 5; n++) {
    const answer = await ctx.call(book, { n });
    done.push(answer.status === "done" ? answer.result : null);
    await ctx.sleep(150);
  }
  return done;
});

const rule: MonitorRule = { kind: "resources", name: "long", operations: 2, raise: "checkpoint" };
const monitor = await admin(hp).monitor({ name: "watch", rules: [rule] });
const run = await flow.start({}, { requestId: "one" });
if (then === "approve") {
  for await (const _ of hp.approvals.follow(AbortSignal.timeout(60_000))) {
    const { items } = await hp.approvals.list();
    const [first] = items;
    if (first === undefined && (await hp.approvals.count("any")) === 0) continue;
    if (first !== undefined) await hp.approvals.approve(first.id, { by: "person:ann" });
    break;
  }
}
const end = await run.result();
say(`end ${JSON.stringify(end.status === "completed" ? end.result : end.reason)}`);
await monitor.caughtUp();
await hp.close();
