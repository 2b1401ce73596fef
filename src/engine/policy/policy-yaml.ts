/** A policy's document as people write one: the journal keeps what it says, and not the text that it was read from. */
import { stringify } from "yaml";
import { keysAt } from "../../core/policy/document.ts";

type Path = readonly (string | number)[];

/** In the order of the reference: what is stored is sorted by letters, which nobody would write. */
function inOrder(value: unknown, path: Path = []): unknown {
  if (Array.isArray(value)) return value.map((part, index) => inOrder(part, [...path, index]));
  if (typeof value !== "object" || value === null) return value;
  const known = keysAt(path).filter((key) => Object.hasOwn(value, key));
  const keys = [...known, ...Object.keys(value).filter((key) => !known.includes(key))];
  const parts = value as Readonly<Record<string, unknown>>;
  return new Map(keys.map((key) => [key, inOrder(parts[key], [...path, key])]));
}

export const policyYaml = (document: unknown): string => stringify(inOrder(document), { lineWidth: 0 });
