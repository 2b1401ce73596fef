/** By which policies an action is explained: those that its verdict names, those in force now, or a file. */

import { documentsNamed } from "../../effects/state.ts";
import { isHoldpointError } from "../../kernel/errors.ts";
import type { PolicyVersionDetails, PolicyVersionSummary, ReplayResult } from "../../policy/contract.ts";
import { type CompiledPolicy, compilePolicy } from "../../policy/rules/compile.ts";
import { type PolicyDocument, parseDocument } from "../../policy/rules/document.ts";
import { versionInForce } from "../../policy/versions.ts";
import { type Context, flag, isOn } from "../shell/command.ts";
import { CommandError } from "../shell/failure.ts";
import { loadPolicy } from "./load.ts";
import { shortDigest } from "./words.ts";

type ChosenPolicy = {
  readonly policy: CompiledPolicy;
  /** With its functions, where a module has some. */
  readonly document: PolicyDocument;
  readonly by: "verdict" | "now" | "file";
  /** For people, behind the policy's name. */
  readonly words: string;
};

/** `gone`: digests of documents that were asked at the time and are no longer kept. */
type PolicyChoice = { readonly chosen: readonly ChosenPolicy[]; readonly gone: readonly string[] };

export function noStore(folder: string, what: string): CommandError {
  return new CommandError("no_store", `There is no store at ${folder}.`, what);
}

const ANOTHER = "--now explains by the policies in force now, --policy <file> by another.";

function compiled({ name, digest, document }: PolicyVersionDetails): CompiledPolicy {
  const made = compilePolicy(document as never, null);
  if (made.ok) return made.policy;
  const why = made.faults.map(({ path, message }) => `${path.join(".")} ${message}`).join("; ");
  throw new CommandError(
    "usage",
    `The policy ${name} ${shortDigest(digest)} cannot be asked here: ${why}.`,
    "Name a file: --policy <file>",
  );
}

type Pair = Pick<ChosenPolicy, "policy" | "document">;

function compiledOf(kept: PolicyVersionDetails): Pair {
  const policy = compiled(kept);
  return { policy, document: policy.document as unknown as PolicyDocument };
}

async function fromFile(context: Context, file: string): Promise<Pair> {
  const { policy, document } = await loadPolicy(context, file);
  const shaped = parseDocument(document);
  return {
    policy,
    document: shaped.ok ? shaped.document : (policy.document as unknown as PolicyDocument),
  };
}

async function keptUnder({ hp }: Context, digest: string): Promise<PolicyVersionDetails | undefined> {
  try {
    return await hp.policies.get(digest);
  } catch (error) {
    if (isHoldpointError(error, "unknown_id")) return undefined;
    throw error;
  }
}

type KeptDocuments = { readonly kept: readonly PolicyVersionDetails[]; readonly gone: readonly string[] };

async function keptFor(context: Context, { said }: ReplayResult): Promise<KeptDocuments> {
  const named = documentsNamed(said);
  const found = await Promise.all(named.map((digest) => keptUnder(context, digest)));
  // What an entry only may mean by a document's digest is gone only where it says that it is one.
  const isDocument = said.documents !== undefined || said.document !== undefined;
  const gone = isDocument ? named.filter((_, index) => found[index] === undefined) : [];
  return { kept: found.flatMap((one) => one ?? []), gone };
}

/** Nothing can be explained: what decided is not kept, or never was a document. */
function noneKept({ action, said }: ReplayResult, gone: readonly string[]): CommandError {
  const digests = gone.map(shortDigest).join(", ");
  if (gone.length > 0)
    return new CommandError(
      "usage",
      `The policy documents that were asked about ${action} are no longer kept: ${digests}.`,
      ANOTHER,
    );
  const what =
    said.limitOf === undefined ? "what decided is in code" : "a limit of the supervised run decided";
  return new CommandError("usage", `No policy document was asked about ${action}: ${what}.`, ANOTHER);
}

async function byVerdict(context: Context, told: ReplayResult): Promise<PolicyChoice> {
  const { kept, gone } = await keptFor(context, told);
  if (kept.length === 0) throw noneKept(told, gone);
  const words = "the version that the verdict names";
  return { chosen: kept.map((one) => ({ ...compiledOf(one), by: "verdict", words })), gone };
}

async function inForce(
  context: Context,
  versions: readonly PolicyVersionSummary[],
): Promise<readonly ChosenPolicy[]> {
  const now = versionInForce(versions);
  if (now === undefined)
    throw new CommandError(
      "usage",
      "No policy document is in force in this store.",
      "Name a file: --policy <file>",
    );
  const words = now.isUsed ? "in force now" : "put in force last; no program judges by it now";
  return [{ ...compiledOf(await context.hp.policies.get(now.version.digest)), by: "now", words }];
}

/** Of an action that documents were asked about: what their names stand for by now. */
async function byNow(context: Context, told: ReplayResult | null): Promise<PolicyChoice> {
  if (!context.hasStore) throw noStore(context.folder, "Name a policy's file: --policy <file>");
  const versions = await context.hp.policies.list();
  const { kept, gone } = told === null ? { kept: [], gone: [] } : await keptFor(context, told);
  const names = new Set(kept.map(({ name }) => name));
  if (names.size === 0) return { chosen: await inForce(context, versions), gone };
  const each = [...names].map((name) =>
    inForce(
      context,
      versions.filter((one) => one.name === name),
    ),
  );
  return { chosen: (await Promise.all(each)).flat(), gone };
}

/** `told`: what the journal has of the action; null of one that is written down. */
export async function choosePolicies(context: Context, told: ReplayResult | null): Promise<PolicyChoice> {
  const file = flag(context, "policy");
  if (file !== undefined && isOn(context, "now"))
    throw new CommandError("usage", "--policy and --now are two policies.", "Leave one of them out.");
  if (file !== undefined)
    return { chosen: [{ ...(await fromFile(context, file)), by: "file", words: `from ${file}` }], gone: [] };
  return told === null || isOn(context, "now") ? byNow(context, told) : byVerdict(context, told);
}
