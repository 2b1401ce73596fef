// The first minute with real processes: a link, a login, an approval. And a server that is killed in between.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { makePlace, type Place, ROOT } from "./program.ts";

const MOST_LOOKS = 600;

type Server = { readonly child: ChildProcess; readonly said: string; readonly login: URL };

async function start({ folder, env }: Place): Promise<Server> {
  const args = [join(ROOT, "bin/holdpoint.mjs"), "serve", "--example", "--port", "0", "--data", "data"];
  const child = spawn(process.execPath, args, { cwd: folder, env });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      said += String(chunk);
    });
  while (!said.includes("reference")) {
    assert.equal(child.exitCode, null, said);
    await new Promise<void>((resolve) => setTimeout(resolve, 20));
  }
  const [, login = ""] = /log in +(\S+)/.exec(said) ?? [];
  return { child, said, login: new URL(login) };
}

async function kill({ child }: Server): Promise<void> {
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

type Ask = (path: string, body?: object) => Promise<Record<string, unknown>>;

/** What the login page does with what follows the #. */
async function logIn({ login }: Server): Promise<Ask> {
  const json = { "content-type": "application/json" };
  const body = JSON.stringify({ link: login.hash.slice(1) });
  const opened = await fetch(`${login.origin}/api/session`, { method: "POST", headers: json, body });
  assert.equal(opened.status, 201, await opened.clone().text());
  const [cookie = ""] = (opened.headers.get("set-cookie") ?? "").split(";");
  const { csrf_token } = (await opened.json()) as { csrf_token: string };
  const headers = { ...json, cookie, "x-csrf-token": csrf_token };
  return async (path, sent) => {
    const method = sent === undefined ? {} : { method: "POST", body: JSON.stringify(sent) };
    const answer = await fetch(`${login.origin}${path}`, { headers, ...method });
    assert.ok(answer.status < 300, `${path}: ${await answer.clone().text()}`);
    return (await answer.json()) as Record<string, unknown>;
  };
}

function happened({ folder }: Place): readonly string[] {
  const file = join(folder, "data/example-refunds.log");
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
}

test("open the link, log in, approve; killed before and after the decision, it pays once and goes on", async (t) => {
  const place = makePlace();
  const running: Server[] = [];
  t.after(async () => {
    for (const one of running)
      if (one.child.exitCode === null && one.child.signalCode === null) await kill(one);
    place.remove();
  });
  const begin = async () => {
    const server = await start(place);
    running.push(server);
    return server;
  };
  const first = await begin();
  assert.match(first.said, /listens on \S+\n {2}open {7}http:\/\/127\.0\.0\.1:\d+\/\n {2}log in /);
  const to = first.login.searchParams.get("to") ?? "";
  assert.match(to, /^\/approvals\/apr_[0-9A-Z]{26}$/);
  const page = await fetch(`${first.login.origin}${to}`);
  assert.match(await page.text(), /<div id="root">/);
  await kill(first);

  const second = await begin();
  assert.equal(second.login.searchParams.get("to"), to, "the same question");
  const ask = await logIn(second);
  const { workflow_id } = await ask("/api/example");
  const { binding } = await ask(`/api${to}`);
  assert.deepEqual(happened(place), []);
  await ask(`/api${to}/votes`, { decision: "approve", binding });
  await kill(second);

  const third = await begin();
  assert.equal(third.login.search, "", "nothing waits any more");
  const again = await logIn(third);
  let workflow = await again(`/api/workflows/${workflow_id}`);
  for (let look = 0; workflow["status"] !== "completed" && look < MOST_LOOKS; look++) {
    await new Promise<void>((resolve) => setTimeout(resolve, 50));
    workflow = await again(`/api/workflows/${workflow_id}`);
  }
  assert.deepEqual(workflow["result"], { refunded_usd: 1200 });
  assert.equal(happened(place).filter((line) => line.includes("refunded_usd")).length, 1);
  assert.equal(happened(place).filter((line) => line.includes("message")).length, 1);
});
