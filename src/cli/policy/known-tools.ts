/** The tools that a policy is checked against: of a program, of a list, or those that the journal has seen. */
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { defineTool, type ToolDefinition } from "../../effects/define-tool.ts";
import type { Holdpoint } from "../../index.ts";
import { isJsonObject, type Json, type JsonObject, parseJson } from "../../kernel/json.ts";
import { didYouMean } from "../../kernel/spelling.ts";
import { displayValue, errorText } from "../../kernel/text.ts";
import { EFFECT_CLASSES } from "../../policy/rules/tool-rules.ts";
import type { KnownTool } from "../../policy/rules/tools.ts";
import { CommandError, fileError } from "../failure.ts";

const SHAPE =
  'A program\'s default export is a function of an instance, or a list of tools; a list in JSON is [{ "name", "effect", "schema" }].';

const wrong = (file: string, what: string): CommandError =>
  new CommandError("usage", `The file ${file} ${what}.`, SHAPE);

const FIELDS = ["name", "effect", "schema"];

function toolIn(file: string, given: Json): KnownTool {
  const one: JsonObject = isJsonObject(given) ? given : {};
  const { name, effect = "once", schema = null } = one;
  if (typeof name !== "string") throw wrong(file, "has a tool without a name");
  const extra = Object.keys(one).find((field) => !FIELDS.includes(field));
  if (extra !== undefined)
    throw wrong(
      file,
      `has a field "${displayValue(extra)}" of ${displayValue(name)} that is none${didYouMean(extra, FIELDS)}`,
    );
  const isClass = (EFFECT_CLASSES as readonly unknown[]).includes(effect);
  if (!isClass)
    throw wrong(file, `has an effect of ${displayValue(name)} that is not ${EFFECT_CLASSES.join(", ")}`);
  if (schema !== null && !isJsonObject(schema))
    throw wrong(file, `has a schema of ${displayValue(name)} that is none`);
  return { name, effectClass: String(effect), schema };
}

function fromJson(file: string, value: Json): readonly KnownTool[] {
  if (!Array.isArray(value)) throw wrong(file, "is not a list of tools");
  return value.map((one: Json) => toolIn(file, one));
}

type Definition = ToolDefinition<never, unknown>;

function known(definition: Definition): KnownTool {
  const { name, effectClass, schemaText } = defineTool(definition).rules;
  return { name, effectClass, schema: schemaText === null ? null : (JSON.parse(schemaText) as JsonObject) };
}

async function fromModule(hp: Holdpoint, file: string): Promise<readonly KnownTool[]> {
  const found: KnownTool[] = [];
  const gate = ((definition: Definition) => {
    found.push(known(definition));
    return hp.gate(definition);
  }) as unknown as Holdpoint["gate"];
  try {
    const { default: given } = (await import(pathToFileURL(file).href)) as { default?: unknown };
    if (Array.isArray(given)) return given.map((one) => known(one as Definition));
    if (typeof given === "function") {
      await (given as (hp: Holdpoint) => unknown)({ ...hp, gate });
      return found;
    }
  } catch (error) {
    throw wrong(file, `cannot be loaded: ${errorText(error)}`);
  }
  throw wrong(file, "exports no tools");
}

/** A program is loaded and runs what it runs when it is loaded; none of its tools is called. */
export async function toolsFrom(hp: Holdpoint, given: string): Promise<readonly KnownTool[]> {
  const file = resolve(given);
  if (!existsSync(file))
    throw new CommandError("file_error", `There is no file ${given}.`, "Check the path.");
  if (!file.endsWith(".json")) return fromModule(hp, file);
  let value: Json;
  try {
    value = parseJson(readFileSync(file, "utf8"));
  } catch (error) {
    throw fileError(given, error);
  }
  return fromJson(given, value);
}
