import { visible } from "../../kernel/text.ts";
import { policyYaml } from "../../policy/yaml.ts";
import { type Context, EXIT, word } from "../command.ts";
import { sectionsOn } from "../sections.ts";
import { ago } from "../times.ts";
import { programText, untilText } from "./list.ts";

/** The document as YAML: every line made visible, so that nothing in it can pass for anything else. */
export function documentLines(document: unknown): readonly string[] {
  return policyYaml(document).trimEnd().split("\n").map(visible);
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
