/** Which programs judge by a version of a policy, and which did: from the policy's stream and those of their epochs. */
import type { JsonObject } from "../../kernel/json.ts";
import { epochStream } from "../../kernel/stream.ts";

import type { JournalEntry, Store } from "../../stores/store.ts";

type Place = { readonly store: Store; readonly tenant: string };

export type PolicyProgram = {
  /** The agent whose program it is, and which process: `host/pid`. */
  readonly by: string;
  readonly process: string;
  readonly epoch: string;
  readonly since: number;
  /** Null while it runs, and where it died and nobody has found that out. */
  readonly until: number | null;
  readonly runs: boolean;
};

export type Told = { readonly type: string; readonly at: number; readonly body: JsonObject };

export function toldBy({ header, body }: JournalEntry): Told {
  const { type, at } = JSON.parse(header) as { readonly type: string; readonly at: number };
  return { type, at, body: body === null ? {} : (JSON.parse(body) as JsonObject) };
}

type Life = { readonly process: string; readonly until: number | null; readonly runs: boolean };

/** One that was killed is still open in the journal until the next process finds it: whether it runs, its hold says. */
async function lifeOf({ store, tenant }: Place, epoch: string): Promise<Life> {
  const [opened, ended] = (await store.read(tenant, epochStream(epoch))).map(toldBy);
  const process = String(opened?.body["process"] ?? "(erased)");
  if (ended !== undefined) return { process, until: ended.at, runs: false };
  return { process, until: null, runs: await store.epochHeld(epoch) };
}

/** By the digests that were taken; newest first. `told` is the policy's whole stream. */
export async function programsOf(
  place: Place,
  told: readonly Told[],
): Promise<ReadonlyMap<string, readonly PolicyProgram[]>> {
  const lives = new Map<string, Promise<Life>>();
  const known = (epoch: string): Promise<Life> => {
    const life = lives.get(epoch) ?? lifeOf(place, epoch);
    lives.set(epoch, life);
    return life;
  };
  const programs = new Map<string, PolicyProgram[]>();
  /** When it was next left, of those that were looked at. */
  const left = new Map<string, number>();
  for (const { type, at, body } of told.toReversed()) {
    const [digest = "", epoch = "", by = ""] = [body["digest"], body["epoch"], body["by"]].map(String);
    const key = `${digest} ${epoch}`;
    if (type === "policy.left") left.set(key, at);
    if (type !== "policy.taken") continue;
    const { process, until, runs } = await known(epoch);
    const leaves = left.get(key);
    const end = leaves === undefined ? { until, runs } : { until: leaves, runs: false };
    const all = programs.get(digest) ?? [];
    all.push({ by, process, epoch, since: at, ...end });
    programs.set(digest, all);
  }
  return programs;
}

/** One that took it several times, for one run after the other, is one: from its first time to its last. Newest first. */
export function oncePerProgram(programs: readonly PolicyProgram[]): readonly PolicyProgram[] {
  const own = new Map<string, PolicyProgram>();
  for (const program of programs) {
    const later = own.get(program.epoch) ?? program;
    own.set(program.epoch, { ...later, since: program.since });
  }
  return [...own.values()];
}
