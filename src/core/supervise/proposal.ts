/**
 * What a model may say: one JSON object that proposes a tool call or a final answer, and nothing else.
 *
 * G1. Whatever else stands in it has no meaning: an unknown key makes it invalid, so no "approved" or "policy" written by a
 *     model is ever read.
 * G2. Nothing is mended: what does not fit is refused by its name.
 * G3. What a model chose stands in that name with its control and bidi characters written out.
 */
import { isHoldpointError } from "../../kernel/errors.ts";
import { isJsonObject, type Json, type JsonObject, parseJson } from "../../kernel/json.ts";
import { visible } from "../../kernel/text.ts";

import type { ToolRules } from "../../policy/rules/tool-rules.ts";

import { checkArgs } from "./check-args.ts";
import type { InvalidAction } from "./stop-reason.ts";

/** Bytes of UTF-8 in one output of a model. */
export const LARGEST_OUTPUT_BYTES = 1_048_576;

export type ToolProposal = { readonly kind: "tool"; readonly name: string; readonly args: JsonObject };
export type FinalProposal = { readonly kind: "final"; readonly answer: string };
export type Proposal = ToolProposal | FinalProposal;

export type Validated =
  | { readonly ok: true; readonly proposal: Proposal }
  /** `raw`: what was read of it, as the seed's `raw_action`. */
  | { readonly ok: false; readonly stop_reason: InvalidAction; readonly raw: Json };

/** The tools that may be proposed, by name. */
export type Catalogue = ReadonlyMap<string, Pick<ToolRules, "name" | "schemaText" | "validate">>;

const MOST_SHOWN = 2_000;
const LONGEST_NAME = 100;

/** Text that is no JSON, as far as people want to see it. */
function unread(text: string): Json {
  const whole = text.toWellFormed();
  return {
    kind: "invalid",
    raw: whole.length <= MOST_SHOWN ? whole : `${whole.slice(0, MOST_SHOWN)}…`.toWellFormed(),
  };
}

const invalid = (stop_reason: InvalidAction, raw: Json): Validated => ({ ok: false, stop_reason, raw });

function read(text: string): { readonly value: Json } | undefined {
  try {
    return { value: parseJson(text) };
  } catch (error) {
    if (isHoldpointError(error, "invalid_json")) return undefined;
    throw error;
  }
}

const hasExtra = (object: JsonObject, keys: readonly string[]): boolean =>
  Object.keys(object).some((key) => !keys.includes(key));

function validateFinal(raw: JsonObject): Validated {
  if (hasExtra(raw, ["kind", "answer"])) return invalid("invalid_action:extra_keys_final", raw);
  const answer = raw["answer"];
  if (typeof answer !== "string" || answer.trim() === "")
    return invalid("invalid_action:bad_final_answer", raw);
  return { ok: true, proposal: { kind: "final", answer: answer.trim() } };
}

function validateTool(raw: JsonObject, catalogue: Catalogue): Validated {
  if (hasExtra(raw, ["kind", "name", "args"])) return invalid("invalid_action:extra_keys_tool", raw);
  const { name: given, args: said = null } = raw;
  if (typeof given !== "string" || given.trim() === "") return invalid("invalid_action:bad_tool_name", raw);
  const name = given.trim();
  const args = said ?? {};
  if (!isJsonObject(args)) return invalid("invalid_action:bad_tool_args", raw);
  const rules = catalogue.get(name);
  if (rules === undefined)
    return invalid(`invalid_action:unknown_tool:${visible(name.slice(0, LONGEST_NAME).toWellFormed())}`, raw);
  const fault = checkArgs(rules, args);
  return fault === undefined
    ? { ok: true, proposal: { kind: "tool", name, args } }
    : invalid(`invalid_action:${fault}`, raw);
}

export function validateProposal(text: string, catalogue: Catalogue): Validated {
  // No character is more than three bytes in UTF-8 for each of its UTF-16 units: short texts need not be counted.
  const isTooLarge = text.length > LARGEST_OUTPUT_BYTES || Buffer.byteLength(text) > LARGEST_OUTPUT_BYTES;
  if (isTooLarge) return invalid("invalid_action:too_large", unread(text));
  const found = read(text);
  if (found === undefined) return invalid("invalid_action:non_json", unread(text));
  const { value } = found;
  if (!isJsonObject(value)) return invalid("invalid_action:not_object", value);
  if (value["kind"] === "final") return validateFinal(value);
  if (value["kind"] === "tool") return validateTool(value, catalogue);
  return invalid("invalid_action:bad_kind", value);
}
