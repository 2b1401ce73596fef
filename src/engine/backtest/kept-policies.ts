/** The policies that were in force: their versions over time, and the documents that the journal kept. */
import { HoldpointError } from "../../core/errors.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { policyStream } from "../../core/stream.ts";
import type { Store } from "../../stores/store.ts";
import { loadValue } from "../read-state.ts";

type Place = { readonly store: Store; readonly tenant: string };

export type KeptVersion = {
  readonly name: string;
  readonly digest: string;
  /** In force from then on. */
  readonly at: number;
  /** Until another took its place; null while it is in force. */
  readonly until: number | null;
  readonly by: string;
  readonly source: string;
};

export type KeptPolicy = KeptVersion & { readonly document: Json };

type Adopted = KeptVersion & { readonly kept: Json | undefined };

const VIEW = "policies";
const PAGE = 1_000;

async function namesOf({ store, tenant }: Place): Promise<readonly string[]> {
  const names: string[] = [];
  for (let after: { at: number; stream: string } | undefined; ; ) {
    const cursor = after === undefined ? {} : { after };
    const rows = await store.query(tenant, { view: VIEW, limit: PAGE, ...cursor });
    names.push(...rows.map((row) => row.stream.id));
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return names;
    after = { at: last.at, stream: `policy/${last.stream.id}` };
  }
}

async function adoptionsOf({ store, tenant }: Place, name: string): Promise<readonly Adopted[]> {
  const entries = await store.read(tenant, policyStream(name));
  const all = entries.map(({ header, body }) => {
    const { at } = JSON.parse(header) as { readonly at: number };
    const said = body === null ? {} : (JSON.parse(body) as JsonObject);
    const text = (field: string) => String(said[field] ?? "(erased)");
    const facts = { name, digest: text("digest"), by: text("by"), source: text("source") };
    return { ...facts, at, kept: said["document"] };
  });
  return all.map((one, index) => ({ ...one, until: all[index + 1]?.at ?? null }));
}

/** Oldest first by policy; all versions of each. */
export async function listPolicies(place: Place): Promise<readonly KeptVersion[]> {
  const found = await Promise.all((await namesOf(place)).map((name) => adoptionsOf(place, name)));
  return found.flat().map(({ kept: _kept, ...version }) => version);
}

async function documentOf(place: Place, { kept, ...version }: Adopted): Promise<KeptPolicy> {
  if (kept === undefined)
    throw new HoldpointError("body_erased", `The document of the policy "${version.name}" was erased.`);
  return { ...version, document: await loadValue(place, kept) };
}

const FEWEST_DIGITS = 6;
const LISTED = { next: "`holdpoint policy list` lists those that were in force." };

/** By its name, the version in force; by its digest or the beginning of it, that version. */
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

/** The policy that was put in force last; undefined where none ever was. */
export async function lastPolicy(place: Place): Promise<KeptPolicy | undefined> {
  const all = await Promise.all((await namesOf(place)).map((name) => adoptionsOf(place, name)));
  const inForce = all.flatMap((versions) => versions.at(-1) ?? []).toSorted((a, b) => a.at - b.at);
  const last = inForce.at(-1);
  return last === undefined ? undefined : documentOf(place, last);
}
