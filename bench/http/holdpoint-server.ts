/** The server as `holdpoint serve` starts it, with a tool, a policy file and an agent's key; logs off, no limit on how often. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { readSettings } from "../../src/api/settings.ts";
import type { Holdpoint } from "../../src/index.ts";
import { startServer } from "../../src/serve.ts";
import { issueApiKey } from "../../tests/fixtures/people.ts";
import type { Place } from "../system.ts";
import type { Listening } from "./server-process.ts";

const POLICY = `
policy: bench
default: block
rules:
  - id: large
    when: args.amount > 100000
    verdict: block
    reason: too large
  - id: small
    when: tool.name == "ship" && args.amount <= 1000
    verdict: approve
`;
const UNLIMITED = 1_000_000;

const define = (hp: Holdpoint) =>
  hp.remote.tool({
    name: "ship",
    input: z.strictObject({ amount: z.number().min(0), note: z.string().max(1_000) }),
  });

async function serve({ folder, database }: Place): Promise<Listening> {
  const policy = join(folder, "policy.yaml");
  writeFileSync(policy, POLICY);
  const where = database === null ? { data: join(folder, "data") } : { database: database.url };
  const settings = readSettings({ flags: new Map(), environment: () => undefined });
  const server = await startServer({
    settings: { ...settings, ...where, policy, port: 0, rate: UNLIMITED, burst: UNLIMITED },
    version: "bench",
    log: () => undefined,
    keyFile: join(folder, "key.json"),
    define,
  });
  const { runtime } = await server.office();
  const key = { principal: "agent:bench", name: "bench", roles: ["executor"], by: "person:bench" } as const;
  const { text } = await issueApiKey(runtime, key);
  process.on("disconnect", async () => {
    await server.close();
    process.exit(0);
  });
  const durability = "asserted by Holdpoint when it opens a store";
  return { port: server.port, durability, headers: `Authorization: Bearer ${text}\r\n` };
}

process.send?.(await serve(JSON.parse(process.argv[2] ?? "") as Place));
