/** What was asked and answered before a decision, on every card. Whose words they are stands before each. */
import type { Approval } from "../approvals/contract.ts";
import type { Sections } from "./sections.ts";
import { ago } from "./times.ts";

/** The latest; drawing takes time, and there may be many long ones. */
const MOST_SHOWN = 20;

export function printComments(
  sections: Sections,
  { approval, now }: { readonly approval: Approval | undefined; readonly now: number },
): void {
  const { comments, agent } = approval ?? { comments: [], agent: "" };
  if (comments.length === 0) return;
  sections.heading("What was asked and answered");
  const earlier = comments.length - MOST_SHOWN;
  if (earlier > 0) sections.field("earlier", `${earlier} more: \`holdpoint show ${approval?.id} --json\``);
  for (const { by, at, text } of comments.slice(-MOST_SHOWN)) {
    sections.field(by === agent ? "agent wrote" : "wrote", `${by}, ${ago(at, now)}`);
    sections.quote(text);
  }
}
