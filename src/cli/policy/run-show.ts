import { stringify } from "yaml";
import { keysAt } from "../../core/policy/document.ts";
import { visible } from "../../core/visible.ts";
import { type Context, EXIT, word } from "../command.ts";
import { sectionsOn } from "../sections.ts";
import { ago } from "../times.ts";
import { programText, untilText } from "./list.ts";

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

/** The document as YAML: every line made visible, so that nothing in it can pass for anything else. */
export function documentLines(document: unknown): readonly string[] {
  return stringify(inOrder(document), { lineWidth: 0 }).trimEnd().split("\n").map(visible);
}

export async function runShow(context: Context): Promise<number> {
  const { terminal, hp, now } = context;
  const kept = await hp.policies.get(word(context));
  if (context.json) {
    terminal.json(kept);
    return EXIT.ok;
  }
  const { name, digest, at, by, source, programs, document } = kept;
  const sections = sectionsOn(terminal, true);
  sections.field("policy", name);
  sections.field("digest", digest);
  sections.field("since", ago(at, now));
  sections.field("until", untilText(kept, now));
  sections.field("by", `${by}, from ${source}`);
  if (programs.length > 0) sections.field("program", programText(kept));
  sections.heading("Document");
  sections.block(documentLines(document));
  return EXIT.ok;
}
