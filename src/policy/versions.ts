/**
 * Policy versions: when each was in force, which programs judge or judged by it, and the documents kept in the journal.
 * Read from the policy's stream and the streams of the programs' epochs.
 */

import { HoldpointError, isHoldpointError } from "../kernel/errors.ts";
import type { Json, JsonObject } from "../kernel/json.ts";
import { epochStream, policyStream } from "../kernel/stream.ts";
import { eachRow } from "../runtime/lists.ts";
import { loadValue } from "../runtime/store-access.ts";
import type { JournalEntry, TenantStore } from "../stores/store.ts";
import type {
  AdoptedPolicyVersion,
  PolicyProgram,
  PolicyVersionDetails,
  PolicyVersionSummary,
} from "./contract.ts";
import type { PolicyText } from "./rules/document.ts";
import { policyYaml } from "./yaml.ts";

/** Printed for what was erased. */
const ERASED = "(erased)";

type PolicyEntry = { readonly type: string; readonly at: number; readonly body: JsonObject };

function parsePolicyEntry({ type, at, body }: JournalEntry): PolicyEntry {
  return { type, at, body: body === null ? {} : (JSON.parse(body) as JsonObject) };
}

type ProgramLife = { readonly process: string; readonly until: number | null; readonly runs: boolean };

/** A killed program has no end in the journal until another process detects it. The store knows if it runs. */
async function readProgramLife({ store, tenant }: TenantStore, epoch: string): Promise<ProgramLife> {
  const [opened, ended] = (await store.read(tenant, epochStream(epoch))).map(parsePolicyEntry);
  const process = String(opened?.body["process"] ?? ERASED);
  if (ended !== undefined) return { process, until: ended.at, runs: false };
  return { process, until: null, runs: await store.epochHeld(epoch) };
}

/** Programs by the digest that they took, newest first. `told` is the policy's whole stream. */
async function programsOf(
  place: TenantStore,
  told: readonly PolicyEntry[],
): Promise<ReadonlyMap<string, readonly PolicyProgram[]>> {
  const lives = new Map<string, Promise<ProgramLife>>();
  const known = (epoch: string): Promise<ProgramLife> => {
    const life = lives.get(epoch) ?? readProgramLife(place, epoch);
    lives.set(epoch, life);
    return life;
  };
  const programs = new Map<string, PolicyProgram[]>();
  /** When each version was next left, among the entries read so far. */
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

/** Merges repeated uses by one program, such as one per run, into one from first to last. Newest first. */
function mergePerProgram(programs: readonly PolicyProgram[]): readonly PolicyProgram[] {
  const own = new Map<string, PolicyProgram>();
  for (const program of programs) {
    const later = own.get(program.epoch) ?? program;
    own.set(program.epoch, { ...later, since: program.since });
  }
  return [...own.values()];
}

type AdoptedVersion = AdoptedPolicyVersion & {
  readonly kept: Json | undefined;
  readonly replacedAt: number | null;
};

async function namesOf(place: TenantStore): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { stream } of eachRow(place, { view: "policies" })) names.push(stream.id);
  return names;
}

const readPolicyEntries = async (
  { store, tenant }: TenantStore,
  name: string,
): Promise<readonly PolicyEntry[]> => (await store.read(tenant, policyStream(name))).map(parsePolicyEntry);

/** If one adoption is erased, programs that judged by it still name its digest: the one that no other adoption has. */
function erasedDigestIn(told: readonly PolicyEntry[]): string {
  const adopted = told.flatMap(({ type, body }) => (type === "policy.adopted" ? [body["digest"]] : []));
  const others = told.flatMap(({ body: { digest } }) => (adopted.includes(digest) ? [] : String(digest)));
  const isOne = adopted.filter((digest) => digest === undefined).length === 1 && new Set(others).size === 1;
  return isOne ? (others[0] ?? ERASED) : ERASED;
}

/** Oldest first. An erased version keeps its place. */
function adoptionsIn(name: string, told: readonly PolicyEntry[]): readonly AdoptedVersion[] {
  const all = told.filter(({ type }) => type === "policy.adopted");
  const erasedDigest = erasedDigestIn(told);
  return all.map(({ at, body }, index) => {
    const text = (field: string, erased = ERASED) => String(body[field] ?? erased);
    const facts = { name, digest: text("digest", erasedDigest), by: text("by"), source: text("source") };
    return { ...facts, at, kept: body["document"], replacedAt: all[index + 1]?.at ?? null };
  });
}

const adoptionsOf = async (place: TenantStore, name: string): Promise<readonly AdoptedVersion[]> =>
  adoptionsIn(name, await readPolicyEntries(place, name));

type VersionStanding = Pick<PolicyVersionSummary, "standing" | "until">;

/** The end of a killed program is unknown until another process detects it. */
function standingOf(programs: readonly PolicyProgram[], replacedAt: number | null): VersionStanding {
  if (programs.some(({ runs }) => runs)) return { standing: "used", until: null };
  if (programs.length === 0) return { standing: "unused", until: replacedAt };
  const ends = programs.map(({ until }) => until);
  return { standing: "ended", until: ends.includes(null) ? null : Math.max(...(ends as number[])) };
}

/** A program that took a version before its next adoption belongs to this adoption. */
async function listed(
  place: TenantStore,
  name: string,
): Promise<readonly (PolicyVersionSummary & AdoptedVersion)[]> {
  const told = await readPolicyEntries(place, name);
  const programs = await programsOf(place, told);
  const all = adoptionsIn(name, told);
  return all.map((one, index) => {
    const again = all.slice(index + 1).find(({ digest }) => digest === one.digest)?.at ?? Number.MAX_VALUE;
    const taken = (programs.get(one.digest) ?? []).filter(({ since }) => since >= one.at && since < again);
    const own = mergePerProgram(taken);
    return { ...one, ...standingOf(own, one.replacedAt), programs: own };
  });
}

function versionOf({
  kept: _kept,
  replacedAt: _at,
  ...version
}: PolicyVersionSummary & AdoptedVersion): PolicyVersionSummary {
  return version;
}

/** All versions, grouped by policy, oldest first, without looking up programs. */
export async function listVersions(place: TenantStore): Promise<readonly AdoptedPolicyVersion[]> {
  const found = await Promise.all((await namesOf(place)).map((name) => adoptionsOf(place, name)));
  return found.flat().map(({ kept: _kept, replacedAt: _at, ...version }) => version);
}

/** Policy names by the digests of their versions. */
export type PolicyNames = ReadonlyMap<string, string>;

export async function loadPolicyNames(place: TenantStore): Promise<PolicyNames> {
  return new Map((await listVersions(place)).map(({ digest, name }) => [digest, name]));
}

/** Like `listVersions`, with the programs of each version. */
export async function listPolicies(place: TenantStore): Promise<readonly PolicyVersionSummary[]> {
  const found = await Promise.all((await namesOf(place)).map((name) => listed(place, name)));
  return found.flat().map(versionOf);
}

const FEWEST_DIGITS = 6;

/** A policy name finds the version put in force last. A digest, or its beginning, finds that version. */
async function findAdoption(place: TenantStore, given: string): Promise<AdoptedVersion> {
  const named = (await adoptionsOf(place, given)).at(-1);
  if (named !== undefined) return named;
  const isDigest = given.length >= FEWEST_DIGITS && /^[0-9a-f]+$/.test(given);
  const all = isDigest
    ? await Promise.all((await namesOf(place)).map((name) => adoptionsOf(place, name)))
    : [];
  const found = all.flat().filter(({ digest }) => digest.startsWith(given));
  const last = found.at(-1);
  const isOne = new Set(found.map(({ digest }) => digest)).size === 1;
  if (last === undefined || !isOne)
    throw new HoldpointError(
      "unknown_id",
      last === undefined
        ? `No policy is called "${given}", and no version has that digest.`
        : `More than one version has a digest that begins with ${given}.`,
      { next: "`holdpoint policy list` lists those that were in force." },
    );
  return last;
}

async function loadDocument(place: TenantStore, { name, kept }: AdoptedVersion): Promise<Json> {
  if (kept === undefined)
    throw new HoldpointError("body_erased", `The document of the policy "${name}" was erased.`);
  return loadValue(place, kept);
}

export async function getPolicy(place: TenantStore, given: string): Promise<PolicyVersionDetails> {
  const found = await findAdoption(place, given);
  const document = await loadDocument(place, found);
  const all = await listed(place, found.name);
  const own = all.find(({ digest, at }) => digest === found.digest && at === found.at);
  if (own === undefined) throw new TypeError("a version of a policy is not in its stream");
  return { ...versionOf(own), document, text: policyYaml(document) };
}

/** The document under a name or digest; undefined if it is no longer stored. */
export async function loadKeptDocument(place: TenantStore, given: string): Promise<PolicyText | undefined> {
  try {
    return (await loadDocument(place, await findAdoption(place, given))) as unknown as PolicyText;
  } catch (error) {
    if (isHoldpointError(error, "unknown_id") || isHoldpointError(error, "body_erased")) return undefined;
    throw error;
  }
}

/** The version put in force last, of those that a program judges by; if none is in use, of all. */
export function versionInForce(versions: readonly PolicyVersionSummary[]): PolicyVersionSummary | undefined {
  const newest = versions.toSorted((a, b) => a.at - b.at);
  return newest.findLast(({ standing }) => standing === "used") ?? newest.at(-1);
}
