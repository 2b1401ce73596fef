/** Which programs judge by a version of a policy, and which did: from the policy's stream and those of their epochs. */
import type { JsonObject } from "../../core/json.ts";
import { epochStream } from "../../core/stream.ts";
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
  for (const [index, { type, at, body }] of told.entries()) {
    if (type !== "policy.taken") continue;
    const [digest, epoch, by] = [body["digest"], body["epoch"], body["by"]].map(String);
    if (digest === undefined || epoch === undefined || by === undefined) continue;
    const left = told.slice(index).find((later) => isLeaving(later, digest, epoch));
    const { process, until, runs } = await known(epoch);
    const end = left === undefined ? { until, runs } : { until: left.at, runs: false };
    const program = { by, process, epoch, since: at, ...end };
    programs.set(digest, [program, ...(programs.get(digest) ?? [])]);
  }
  return programs;
}

const isLeaving = ({ type, body }: Told, digest: string, epoch: string): boolean =>
  type === "policy.left" && body["digest"] === digest && body["epoch"] === epoch;
