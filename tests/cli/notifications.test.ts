// Endpoints and messages from a terminal: the program delivers, the command line beside it.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { admin } from "../../src/admin.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { startReceiver } from "../messages/receiver.ts";
import { errorOf, linesOf, runCli } from "./bench.ts";

const ME = `person:${userInfo().username}`;
const PRIVATE = { env: { HOLDPOINT_ALLOW_PRIVATE: "1" } };

describe("endpoints on the command line", () => {
  test("are added, listed, tried out, changed, rotated, switched and removed", async (context) => {
    const folder = temporaryFolder(context);
    await admin(folder.open()).seals.create();
    const receiver = await startReceiver(context);
    const run = (...args: readonly string[]) => runCli(folder, ["endpoints", ...args], PRIVATE);
    assert.equal((await run()).err, "There are no endpoints.\n");
    const added = await run("add", "--url", receiver.url, "--event", "approval.*", "--name", "hook\u202e");
    const [id = "", secret = ""] = [/end_\w+/.exec(added.out)?.[0], /whsec_\S+/.exec(added.out)?.[0]];
    assert.deepEqual([added.code, secret.length > 40], [0, true], added.err);
    const [line = ""] = linesOf((await run()).out);
    const cells = line.split("\t");
    assert.deepEqual(cells.slice(0, 6), [id, "on", "hook\\u202e", receiver.url, "approval.*", ME]);
    assert.doesNotMatch(line, /whsec_/);
    const tried = await run("test", id.slice(0, 14));
    assert.match(tried.out, /^Arrived: msg_\w+, status 204\.\n$/);
    receiver.answer = () => 500;
    const failed = await run("test", id);
    assert.deepEqual([failed.code, /status_500/.test(failed.out)], [1, true]);
    const closed = await runCli(folder, ["endpoints", "test", id, "--json"]);
    assert.partialDeepStrictEqual(JSON.parse(closed.out), { arrived: false, problem: "not_public" });
    const rotated = await run("rotate", id, "--overlap", "1h", "--json");
    assert.notEqual((JSON.parse(rotated.out) as { secret: string }).secret, secret);
    assert.match((await run("change", id, "--event", "alert.raised")).out, /alert\.raised/);
    assert.match((await run("off", id, "--reason", "quiet")).out, /switched off/);
    assert.match((await run("on", id)).out, /switched on/);
    assert.match((await run("remove", id, "--reason", "old")).out, /removed/);
    assert.equal((await run()).out, "");
    assert.equal(linesOf((await run("--all", "--json")).out).length, 1);
  });

  test("that cannot be are refused, and it is said why", async (context) => {
    const folder = temporaryFolder(context);
    await admin(folder.open()).seals.create();
    const wrong = async (...args: readonly string[]) => {
      const ran = await runCli(folder, ["endpoints", ...args, "--json"]);
      return [ran.code, errorOf(ran)["code"]];
    };
    assert.deepEqual(await wrong("add"), [2, "invalid_input"]);
    assert.deepEqual(await wrong("add", "--url", "ftp://x.example/"), [2, "invalid_input"]);
    assert.deepEqual(await wrong("add", "--to", "a@b.example", "--event", "nothing"), [2, "invalid_input"]);
    assert.deepEqual(await wrong("rotate"), [2, "usage"]);
    assert.deepEqual(await wrong("list", "--url", "https://x.example"), [2, "usage"]);
    assert.deepEqual(await wrong("test", "end_00000000000000000000000000"), [3, "unknown_id"]);
    const url = await runCli(folder, ["endpoints", "add", "--url", "https://ann:canary@x.example/"]);
    assert.doesNotMatch(url.err, /canary/, "a password is not repeated");
  });
});

test("messages are listed, those that are dead too, and sent again", async (context) => {
  const folder = temporaryFolder(context);
  const hp = folder.open();
  const receiver = await startReceiver(context);
  receiver.answer = () => 410;
  const { id } = await admin(hp).endpoints.add({ url: receiver.url, events: ["approval.requested"], by: ME });
  const tool = hp.gate({ name: "refund", policy: "escalate", run: () => 1 });
  const over = new AbortController();
  const delivering = admin(hp).deliver(over.signal, { allowPrivate: true });
  await tool({}, { requestId: "r", waitMs: 0 });
  await receiver.reached(1);
  over.abort();
  await delivering;
  const [line = ""] = linesOf((await runCli(folder, ["notifications", "dead"])).out);
  const [message = "", status, , attempts, last, due, type, endpoint, to, reason] = line.split("\t");
  assert.deepEqual(
    [status, attempts, last, due, type, endpoint, to],
    ["dead", "1", "status_410", "-", "approval.requested", id, "-"],
  );
  assert.equal(reason, "the receiver wants nothing more");
  assert.equal(
    linesOf((await runCli(folder, ["notifications", "--status", "dead", "--json"])).out).length,
    1,
  );
  const again = await runCli(folder, ["notifications", "retry", message.slice(0, 16)]);
  assert.equal(
    again.out,
    `It is tried again: ${message}, under the same id. A process that delivers sends it.\n`,
  );
  const twice = await runCli(folder, ["notifications", "retry", message, "--json"]);
  assert.deepEqual([twice.code, errorOf(twice)["code"]], [1, "wrong_state"]);
  assert.equal((await runCli(folder, ["notifications", "dead"])).err, "No message is dead.\n");
  assert.equal((await runCli(folder, ["notifications", "list", "--status", "odd"])).code, 2);
  await admin(hp).endpoints.switchOn(id, { by: ME });
  receiver.answer = () => 204;
  const more = new AbortController();
  const rest = admin(hp).deliver(more.signal, { allowPrivate: true });
  await receiver.reached(2);
  more.abort();
  await rest;
  assert.equal(receiver.got[1]?.id, message);
  assert.match((await runCli(folder, ["notifications"])).out, /\tdelivered\t/);
});

test("`run --notify` names the endpoint that hears of the approvals of the run, once and for all", async (t) => {
  const folder = temporaryFolder(t);
  const hp = folder.open();
  for (const name of ["prod", "other"])
    await admin(hp).endpoints.add({ url: `https://hooks.slack.com/services/T/B/${name}`, name, by: ME });
  const file = join(folder.path, "flow.ts");
  writeFileSync(file, 'export default (hp) => hp.workflow("flow", async () => 7);');
  const run = (...args: readonly string[]) =>
    runCli(folder, ["run", file, "--request-id", "a", ...args, "--json"]);
  const first = await run("--notify", "slack://prod");
  assert.equal(first.code, 0, first.err);
  const { workflow } = JSON.parse(first.out) as { workflow: string };
  assert.equal((await hp.workflows.get(workflow)).notify, "slack://prod");
  assert.equal((await run()).code, 0, "the term is kept");
  const changed = await run("--notify", "slack://other");
  assert.deepEqual([changed.code, /without --notify slack:\/\/other/.test(changed.err)], [2, true]);
  const unknown = await runCli(folder, ["run", file, "--notify", "slack://nowhere", "--json"]);
  assert.match(unknown.err, /no endpoint slack:\/\/nowhere/);
});
