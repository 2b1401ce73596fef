/** The policies that were put in force: their versions over time, who judges by them, and the documents that the journal kept. */
import { HoldpointError } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import { policyStream } from "../../kernel/stream.ts";
import { eachRow } from "../../runtime/lists.ts";
import { loadValue } from "../../runtime/store-access.ts";
import type { Store } from "../../stores/store.ts";

import { oncePerProgram, type PolicyProgram, programsOf, type Told, toldBy } from "./policy-programs.ts";

type Place = { readonly store: Store; readonly tenant: string };

/** A version as it was put in force. */
export type KeptVersion = {
  readonly name: string;
  readonly digest: string;
  /** When it was put in force, and by which program from where. */
  readonly at: number;
  readonly by: string;
  readonly source: string;
};

/** `used`: some program judges by it now; `ended`: one did; `unused`: none ever has, as far as the journal says. */
export type PolicyStanding = "used" | "ended" | "unused";

export type ListedVersion = KeptVersion & {
  readonly standing: PolicyStanding;
  /** When it was last in force; null while it is, and where nobody knows. */
  readonly until: number | null;
  /** Who judges by it, and who did; newest first. */
  readonly programs: readonly PolicyProgram[];
};

export type KeptPolicy = ListedVersion & { readonly document: Json };

type Adopted = KeptVersion & { readonly kept: Json | undefined; readonly replacedAt: number | null };

async function namesOf(place: Place): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { stream } of eachRow(place, { view: "policies" })) names.push(stream.id);
  return names;
}

const read = async ({ store, tenant }: Place, name: string): Promise<readonly Told[]> =>
  (await store.read(tenant, policyStream(name))).map(toldBy);

/** Oldest first. What was erased has still its place. */
function adoptionsIn(name: string, told: readonly Told[]): readonly Adopted[] {
  const all = told.filter(({ type }) => type === "policy.adopted");
  return all.map(({ at, body }, index) => {
    const text = (field: string) => String(body[field] ?? "(erased)");
    const facts = { name, digest: text("digest"), by: text("by"), source: text("source") };
    return { ...facts, at, kept: body["document"], replacedAt: all[index + 1]?.at ?? null };
  });
}

const adoptionsOf = async (place: Place, name: string): Promise<readonly Adopted[]> =>
  adoptionsIn(name, await read(place, name));

type Standing = Pick<ListedVersion, "standing" | "until">;

/** A program that died without a word ended at some time: which, nobody knows until another finds it. */
function standingOf(programs: readonly PolicyProgram[], replacedAt: number | null): Standing {
  if (programs.some(({ runs }) => runs)) return { standing: "used", until: null };
  if (programs.length === 0) return { standing: "unused", until: replacedAt };
  const ends = programs.map(({ until }) => until);
  return { standing: "ended", until: ends.includes(null) ? null : Math.max(...(ends as number[])) };
}

/** Those that took it before it was put in force the next time are those of this time. */
async function listed(place: Place, name: string): Promise<readonly (ListedVersion & Adopted)[]> {
  const told = await read(place, name);
  const programs = await programsOf(place, told);
  const all = adoptionsIn(name, told);
  return all.map((one, index) => {
    const again = all.slice(index + 1).find(({ digest }) => digest === one.digest)?.at ?? Number.MAX_VALUE;
    const taken = (programs.get(one.digest) ?? []).filter(({ since }) => since >= one.at && since < again);
    const own = oncePerProgram(taken);
    return { ...one, ...standingOf(own, one.replacedAt), programs: own };
  });
}

function versionOf({ kept: _kept, replacedAt: _at, ...version }: ListedVersion & Adopted): ListedVersion {
  return version;
}

/** Oldest first by policy; all versions of each, without looking who judges by them. */
export async function versionsKept(place: Place): Promise<readonly KeptVersion[]> {
  const found = await Promise.all((await namesOf(place)).map((name) => adoptionsOf(place, name)));
  return found.flat().map(({ kept: _kept, replacedAt: _at, ...version }) => version);
}

/** Names of policies by the digests of their versions. */
export type PolicyNames = ReadonlyMap<string, string>;

export async function policyNames(place: Place): Promise<PolicyNames> {
  return new Map((await versionsKept(place)).map(({ digest, name }) => [digest, name]));
}

/** The same, with who does. */
export async function listPolicies(place: Place): Promise<readonly ListedVersion[]> {
  const found = await Promise.all((await namesOf(place)).map((name) => listed(place, name)));
  return found.flat().map(versionOf);
}

async function documentOf(place: Place, { name, digest, at, kept }: Adopted): Promise<KeptPolicy> {
  if (kept === undefined)
    throw new HoldpointError("body_erased", `The document of the policy "${name}" was erased.`);
  const own = (await listed(place, name)).find((one) => one.digest === digest && one.at === at);
  if (own === undefined) throw new TypeError("a version of a policy is not in its stream");
  return { ...versionOf(own), document: await loadValue(place, kept) };
}

const FEWEST_DIGITS = 6;
const LISTED = { next: "`holdpoint policy list` lists those that were in force." };

/** By its name, the version that was put in force last; by its digest or the beginning of it, that version. */
export async function getPolicy(place: Place, given: string): Promise<KeptPolicy> {
  const named = (await adoptionsOf(place, given)).at(-1);
  if (named !== undefined) return documentOf(place, named);
  const isDigest = given.length >= FEWEST_DIGITS && /^[0-9a-f]+$/.test(given);
  const all = isDigest
    ? await Promise.all((await namesOf(place)).map((name) => adoptionsOf(place, name)))
    : [];
  const found = all.flat().filter(({ digest }) => digest.startsWith(given));
  const [first] = found;
  if (first === undefined)
    throw new HoldpointError(
      "unknown_id",
      `No policy is called "${given}", and no version has that digest.`,
      LISTED,
    );
  if (new Set(found.map(({ digest }) => digest)).size > 1)
    throw new HoldpointError(
      "unknown_id",
      `More than one version has a digest that begins with ${given}.`,
      LISTED,
    );
  return documentOf(place, found.at(-1) ?? first);
}
