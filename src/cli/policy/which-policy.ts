/** By which policies an action is explained: those that its verdict names, those in force now, or a file. */

import type { PolicyVersionDetails, ReplayResult } from "../../policy/contract.ts";
import { policiesNow, policiesThen } from "../../policy/explain-action.ts";
import { compileForTrial } from "../../policy/read.ts";
import type { CompiledPolicy } from "../../policy/rules/compile.ts";
import { type PolicyDocument, type PolicyText, parseDocument } from "../../policy/rules/document.ts";
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
const A_FILE = "Name a file: --policy <file>";

function chosenFrom(kept: PolicyVersionDetails, by: "verdict" | "now"): ChosenPolicy {
  const policy = compileForTrial(kept.document as PolicyText);
  const now = kept.standing === "used" ? "in force now" : "put in force last; no program judges by it now";
  const words = by === "now" ? now : "the version that the verdict names";
  return { policy, document: policy.document as unknown as PolicyDocument, by, words };
}

async function fromFile(context: Context, file: string): Promise<PolicyChoice> {
  const { policy, document } = await loadPolicy(context, file);
  const shaped = parseDocument(document);
  const whole = shaped.ok ? shaped.document : (policy.document as unknown as PolicyDocument);
  return { chosen: [{ policy, document: whole, by: "file", words: `from ${file}` }], gone: [] };
}

/** Nothing can be explained: what decided is not kept, or never was a document. */
function noneKept({ action, said }: ReplayResult, gone: readonly string[]): CommandError {
  const digests = gone.map(shortDigest).join(", ");
  const what =
    said.limitOf === undefined ? "what decided is in code" : "a limit of the supervised run decided";
  const why =
    gone.length > 0
      ? `The policy documents that were asked about ${action} are no longer kept: ${digests}.`
      : `No policy document was asked about ${action}: ${what}.`;
  return new CommandError("usage", why, ANOTHER);
}

/** `told`: what the journal has of the action; null of one that is written down. */
export async function choosePolicies(context: Context, told: ReplayResult | null): Promise<PolicyChoice> {
  const file = flag(context, "policy");
  if (file !== undefined && isOn(context, "now"))
    throw new CommandError("usage", "--policy and --now are two policies.", "Leave one of them out.");
  if (file !== undefined) return fromFile(context, file);
  if (!context.hasStore) throw noStore(context.folder, "Name a policy's file: --policy <file>");
  const by = told === null || isOn(context, "now") ? "now" : "verdict";
  const { policies } = context.hp;
  const { kept, gone } =
    told === null || by === "now"
      ? await policiesNow(policies, told?.said ?? null)
      : await policiesThen(policies, told.said);
  if (kept.length === 0 && told !== null && by === "verdict") throw noneKept(told, gone);
  if (kept.length === 0)
    throw new CommandError("usage", "No policy document is in force in this store.", A_FILE);
  return { chosen: kept.map((one) => chosenFrom(one, by)), gone };
}
