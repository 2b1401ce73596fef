/** The tools that a document speaks of, and those that it is checked against where a journal knows some of them. */
import { isJsonObject, type Json, type JsonObject } from "../../kernel/json.ts";
import type { KnownTool } from "./known-tool.ts";
import { FINAL } from "./tool-pattern.ts";

const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);
const partsOf = (value: unknown): readonly JsonObject[] =>
  (Array.isArray(value) ? value : []).filter(isJsonObject);

/** Tools that a document speaks of by their names; whatever else is wrong with it. */
export function namedTools(document: unknown): readonly KnownTool[] {
  if (!isJsonObject(document)) return [];
  const { rules, risk, totals, tools } = document;
  const spoken = [
    ...partsOf(rules).flatMap(({ tool }) => asList(tool)),
    ...partsOf(isJsonObject(risk) ? risk["conditions"] : null).flatMap(({ tool }) => asList(tool)),
    ...Object.values(isJsonObject(totals) ? totals : {}).flatMap((one) =>
      isJsonObject(one) ? asList(one["tool"]) : [],
    ),
    ...Object.keys(isJsonObject(tools) ? tools : {}),
  ];
  const names = spoken.filter((name): name is string => typeof name === "string" && !name.includes("*"));
  return [...new Set(names)].map((name) => ({ name, effectClass: classOf(tools, name), schema: null }));
}

function classOf(tools: Json | undefined, name: string): string {
  const terms = isJsonObject(tools) && Object.hasOwn(tools, name) ? tools[name] : null;
  const effect = isJsonObject(terms) ? terms["effect"] : undefined;
  return typeof effect === "string" ? effect : "once";
}

/** A policy may be there before its tools were ever called: what the journal does not know is not wrong. */
export function withNamed(recorded: readonly KnownTool[], named: readonly KnownTool[]): readonly KnownTool[] {
  const known = new Set(recorded.map(({ name }) => name));
  return [...recorded, ...named.filter(({ name }) => !known.has(name) && name !== FINAL)];
}
