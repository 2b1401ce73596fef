/** What nodes declare to be measured: workflows that say without end who runs them, and effects without end. */
import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Holdpoint } from "../../../src/index.ts";

const port = Number(process.env["FLEET_RECEIVER"]);
const node = process.env["FLEET_NODE"] ?? "";
const mine = (process.env["FLEET_WATCHES"] ?? "").split(",").filter((name) => name !== "");
const agent = new Agent({ keepAlive: true });

const BEAT_MS = 40;
const TICK_MS = 25;
const LANES = 2;

function say(path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const call = request({ host: "127.0.0.1", port, path, method: "POST", agent }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      });
      response.on("end", () => resolve(text));
      response.on("error", reject);
    });
    call.on("error", reject);
    call.end();
  });
}

/** Those that this node begins are told to it; it is one workflow, whoever begins it. */
function declareWatch(hp: Holdpoint): void {
  const watch = hp.workflow("watch", async (ctx, { name }: { name: string }) => {
    await ctx.step("beat", { effect: "idempotent" }, async () => {
      while ((await say(`/beat/${name}/${process.pid}`)) !== "end") await sleep(BEAT_MS);
    });
  });
  for (const name of mine)
    if (name.startsWith(`${node}.`)) void watch.start({ name }, { requestId: `watch-${name}` });
}

async function tickOn(tick: (args: { n: number }) => Promise<unknown>, lane: number): Promise<void> {
  for (let n = lane; ; n += LANES) {
    await tick({ n }).catch(() => undefined);
    await sleep(TICK_MS);
  }
}

function declareTicks(hp: Holdpoint): void {
  const tick = hp.gate({
    name: "tick",
    policy: "approve",
    effect: "once",
    run: (_args: { n: number }, { effect }) => say(`/tick/${effect}/${node}`),
  });
  for (let lane = 0; lane < LANES; lane++) void tickOn(tick, lane);
}

// biome-ignore lint/style/noDefaultExport: it is what `--definitions` takes.
export default (hp: Holdpoint): void => {
  if (process.env["FLEET_FIGURE"] === "takeover") declareWatch(hp);
  else declareTicks(hp);
};
