import type { Json } from "../core/json.ts";
import type { Action, Approval } from "../index.ts";
import { type Card, printCard } from "./card.ts";
import { type Command, type Context, EXIT, FULL, word } from "./command.ts";
import { anyId } from "./resolve-id.ts";

/** An action shows with the approval it waits for or ran under, if there is one. */
function approvalOf(action: Action): string | undefined {
  if (action.phase === "waiting") return action.approval;
  return "effect" in action && action.effect.grant.kind === "approval"
    ? action.effect.grant.approval
    : undefined;
}

export async function loadCard(context: Context, id: string): Promise<Card> {
  const { hp, now, full } = context;
  const asked: Approval | undefined = id.startsWith("apr_") ? await hp.approvals.get(id) : undefined;
  const action = await hp.actions.get(asked?.action ?? id);
  const linked = asked === undefined ? approvalOf(action) : undefined;
  const approval = linked === undefined ? asked : await hp.approvals.get(linked);
  return { approval, action, receipt: await hp.receipts.get(action.id), now, full };
}

export const show: Command = {
  name: "show",
  words: ["<id>"],
  summary: "everything about an approval or an action, before deciding and after",
  details: ["The id is an approval's, an action's, an effect's or the caller's request id."],
  flags: { full: FULL },
  async run(context) {
    const card = await loadCard(context, await anyId(context, word(context)));
    const { approval, action, receipt } = card;
    if (context.json)
      context.terminal.json({ approval: approval ?? null, action, receipt: receipt ?? null } as {
        [part: string]: Json;
      });
    else printCard(context.terminal, card);
    return EXIT.ok;
  },
};
