/** What stands before the first node starts: a database, a receiver, people, keys and a budget. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { admin } from "../../../src/admin.ts";
import { type Holdpoint, holdpoint } from "../../../src/index.ts";
import { openPostgres } from "../../../src/postgres.ts";
import type { Store } from "../../../src/stores/store.ts";
import { createLines } from "../../fixtures/lines.ts";
import { type PostgresServer, startPostgres } from "../../fixtures/postgres-server.ts";
import { BUDGET } from "./tools.ts";

export const PEOPLE = ["ann", "bob", "cid"] as const;
export const LEASE_SECONDS = 3;

export type Base = {
  readonly folder: string;
  readonly server: PostgresServer;
  readonly receiver: { readonly port: number; readonly log: string };
  readonly agentKey: string;
  readonly people: Readonly<Record<string, string>>;
  /** An instance beside the fleet, straight at the database. */
  open(): Promise<{ readonly hp: Holdpoint; readonly store: Store }>;
  close(keep: boolean): Promise<void>;
};

const EFFECT_SERVER = join(import.meta.dirname, "../../crash/effect-server.ts");

async function startReceiver(log: string): Promise<{ readonly child: ChildProcess; readonly port: number }> {
  const stdio = ["pipe", "pipe", "inherit"] as const;
  const child = spawn(process.execPath, ["--no-warnings", EFFECT_SERVER, log], { stdio: [...stdio] });
  const { port } = JSON.parse(await createLines(child)()) as { port: number };
  return { child, port };
}

async function furnish(hp: Holdpoint, limit: bigint) {
  const by = "person:root";
  await admin(hp).people.add({ person: by, roles: ["admin"], by });
  const people: Record<string, string> = {};
  for (const name of PEOPLE) {
    const principal = `person:${name}`;
    await admin(hp).people.add({ person: principal, roles: ["supervisor", "verifier"], by });
    people[name] = (await admin(hp).keys.issue({ principal, name, roles: [], by })).text;
  }
  const agent = { principal: "agent:client", name: "client", roles: ["executor"], by } as const;
  const { text } = await admin(hp).keys.issue(agent);
  await hp.budgets.limit(BUDGET, { currency: "USD", micros: limit });
  await admin(hp).seals.create();
  return { people, agentKey: text };
}

export async function openBase(limit: bigint): Promise<Base> {
  const server = await startPostgres();
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-fleet-"));
  const log = join(folder, "effects.log");
  const { child, port } = await startReceiver(log);
  const open = async () => {
    const store = await openPostgres({ database: server.url, leaseMs: LEASE_SECONDS * 1_000 });
    const keyFile = join(folder, "key.json");
    return { store, hp: holdpoint({ store, keyFile, agent: "overseer", notify: () => undefined }) };
  };
  const { hp } = await open();
  const given = await furnish(hp, limit);
  await hp.close();
  return {
    folder,
    server,
    receiver: { port, log },
    ...given,
    open,
    async close(keep) {
      const ended = once(child, "exit");
      child.stdin?.end();
      await ended;
      await server.stop();
      if (!keep) rmSync(folder, { recursive: true, force: true });
    },
  };
}
