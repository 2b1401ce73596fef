/** By which policies an action is explained: those that its verdict names, those in force now, or a file. */
import { documentsNamed } from "../../core/action/review-facts.ts";
import { isHoldpointError } from "../../core/errors.ts";
import { type CompiledPolicy, compilePolicy } from "../../core/policy/compile.ts";
import type { KeptPolicy, ListedVersion } from "../../engine/backtest/kept-policies.ts";
import type { Told } from "../../engine/backtest/told.ts";
import { type Context, flag, isOn } from "../command.ts";
import { CommandError } from "../failure.ts";
import { shortDigest } from "../policy-words.ts";
import { loadPolicy } from "./load.ts";

export type Chosen = {
  readonly policy: CompiledPolicy;
  readonly by: "verdict" | "now" | "file";
  /** For people, behind the policy's name. */
  readonly words: string;
};

export function noStore(folder: string, what: string): CommandError {
  return new CommandError("no_store", `There is no store at ${folder}.`, what);
}

const ANOTHER = "--now explains by the policies in force now, --policy <file> by another.";

function compiled({ name, digest, document }: KeptPolicy): CompiledPolicy {
  const made = compilePolicy(document as never, null);
  if (made.ok) return made.policy;
  const why = made.faults.map(({ path, message }) => `${path.join(".")} ${message}`).join("; ");
  throw new CommandError(
    "usage",
    `The policy ${name} ${shortDigest(digest)} cannot be asked here: ${why}.`,
    "Name a file: --policy <file>",
  );
}

async function keptUnder({ hp }: Context, digest: string): Promise<KeptPolicy | undefined> {
  try {
    return await hp.policies.get(digest);
  } catch (error) {
    if (isHoldpointError(error, "unknown_id")) return undefined;
    throw error;
  }
}

async function keptFor(context: Context, { said }: Told): Promise<readonly KeptPolicy[]> {
  const found = await Promise.all(documentsNamed(said).map((digest) => keptUnder(context, digest)));
  return found.flatMap((one) => one ?? []);
}

async function byVerdict(context: Context, told: Told): Promise<readonly Chosen[]> {
  const kept = await keptFor(context, told);
  if (kept.length === 0)
    throw new CommandError(
      "usage",
      `No policy document was asked about ${told.action}: what decided is in code.`,
      ANOTHER,
    );
  const words = "the version that the verdict names";
  return kept.map((one) => ({ policy: compiled(one), by: "verdict", words }));
}

const newest = (versions: readonly ListedVersion[]): ListedVersion | undefined =>
  versions.toSorted((a, b) => a.at - b.at).at(-1);

/** Of those that a program judges by, else of all, the one that was put in force last. */
async function inForce(context: Context, versions: readonly ListedVersion[]): Promise<readonly Chosen[]> {
  const used = newest(versions.filter(({ standing }) => standing === "used"));
  const one = used ?? newest(versions);
  if (one === undefined)
    throw new CommandError(
      "usage",
      "No policy document is in force in this store.",
      "Name a file: --policy <file>",
    );
  const words = used === undefined ? "put in force last; no program judges by it now" : "in force now";
  return [{ policy: compiled(await context.hp.policies.get(one.digest)), by: "now", words }];
}

/** Of an action that documents were asked about: what their names stand for by now. */
async function byNow(context: Context, told: Told | null): Promise<readonly Chosen[]> {
  if (!context.hasStore) throw noStore(context.folder, "Name a policy's file: --policy <file>");
  const versions = await context.hp.policies.list();
  const names = new Set((told === null ? [] : await keptFor(context, told)).map(({ name }) => name));
  if (names.size === 0) return inForce(context, versions);
  const each = [...names].map((name) =>
    inForce(
      context,
      versions.filter((one) => one.name === name),
    ),
  );
  return (await Promise.all(each)).flat();
}

/** `told`: what the journal has of the action; null of one that is written down. */
export function policiesFor(
  context: Context,
  told: Told | null,
): Promise<readonly Chosen[]> | readonly Chosen[] {
  const file = flag(context, "policy");
  if (file !== undefined && isOn(context, "now"))
    throw new CommandError("usage", "--policy and --now are two policies.", "Leave one of them out.");
  if (file !== undefined) return [{ policy: loadPolicy(context, file), by: "file", words: `from ${file}` }];
  return told === null || isOn(context, "now") ? byNow(context, told) : byVerdict(context, told);
}
