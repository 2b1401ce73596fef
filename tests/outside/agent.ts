/**
 * An agent over HTTP, as the guide writes it: it makes its holder first, stores it, proposes with `begin: true`, performs only
 * what is permitted and begun, and reports. `node agent.ts url folder [die]` runs it as a process; with `die` it is killed
 * between performing and reporting.
 */
import { randomBytes } from "node:crypto";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

type Answer = {
  readonly status?: string;
  readonly kind: string;
  readonly action_id: string;
  readonly begun?: boolean;
  readonly receipt?: { readonly status: string };
};

export type AgentTask = {
  readonly url: string;
  /** Absent: the agent sends no holder. */
  readonly holder?: string;
  readonly perform: () => void | Promise<void>;
};

async function post(url: string, body: object): Promise<Answer> {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(text);
  return JSON.parse(text) as Answer;
}

/** The holder that is stored in the agent's folder; made where there is none yet. */
export function storedHolder(folder: string): string {
  const file = join(folder, "rent-may.holder");
  if (!existsSync(file)) writeFileSync(file, randomBytes(32).toString("base64url"));
  return readFileSync(file, "utf8");
}

/** Answers what the agent was told: the status, or that it performed and how its report was taken. */
export async function runAgent({ url, holder, perform }: AgentTask): Promise<string> {
  const permit = holder === undefined ? {} : { holder, begin: true };
  const wire = { tool: "wire", args: { amount: 900 }, request_id: "rent-may", agent: "rent", ...permit };
  const { status, kind, begun, action_id: action, receipt } = await post(`${url}/api/actions`, wire);
  // A server of 0.1.0 says `kind` instead of `status`, and does not say `begun`.
  const told = status ?? receipt?.status ?? kind;
  if (told !== "permitted" || begun === false) return told;
  await perform();
  const reported = await post(`${url}/api/actions/${action}/outcome`, { status: "applied", agent: "rent" });
  return `performed, ${reported.kind}`;
}

if (import.meta.main) {
  const [url = "", folder = "", die] = process.argv.slice(2);
  const perform = () => {
    appendFileSync(join(folder, "effects.log"), "wired 900\n");
    if (die !== undefined) process.kill(process.pid, "SIGKILL");
  };
  process.stdout.write(await runAgent({ url, holder: storedHolder(folder), perform }));
}
