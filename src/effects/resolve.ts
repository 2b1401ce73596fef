/** Ends doubt about effects: asks tools that can tell (`verify`), or records a person's word. */

import { resolveByPerson } from "../core/action/resolve.ts";
import { actionOf } from "../core/action/start.ts";
import type { LiveAction } from "../core/action/state.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { isId } from "../kernel/ids.ts";
import { channelField, type Via } from "../kernel/principal.ts";
import { actionStream } from "../kernel/stream.ts";
import { displayValue } from "../kernel/text.ts";
import type { CommandStore } from "../kill-switch/methods.ts";
import { checkSaid, type Said } from "../people/input.ts";
import { redactTexts } from "../people/secret-guesses/limit.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { resolveSecrets } from "../runtime/secrets.ts";
import { loadValue, readState, runCommand } from "../runtime/store-access.ts";

export async function resolveEffect(
  place: CommandStore & Pick<Runtime, "clock" | "secrets">,
  effect: string,
  command: Said & Via & { readonly status: "applied" | "not_applied"; readonly evidence?: string },
): Promise<LiveAction> {
  checkSaid(command);
  if (command.evidence !== undefined) checkSaid({ ...command, reason: command.evidence });
  if (command.status !== "applied" && command.status !== "not_applied")
    throw new HoldpointError(
      "invalid_input",
      `An effect is resolved as applied or not_applied, not "${displayValue(command.status)}".`,
    );
  const action = actionOf(effect);
  const state = isId("act", action)
    ? await readState(place, actionStream(action))
    : { phase: "none" as const };
  if (state.phase === "none")
    throw new HoldpointError("unknown_id", `There is no effect ${displayValue(effect)}.`);
  const { status, by } = command;
  // What people write is kept in clear, so the values of the action's secrets are taken out of it.
  const args = await loadValue(place, state.args);
  const known = await resolveSecrets(place.secrets, args).catch(() => new Map<string, string>());
  const kept = (text: string) => redactTexts(place, { by, text, known });
  const reason = kept(command.reason);
  const evidence = command.evidence === undefined ? null : kept(command.evidence);
  const answer = await runCommand(place, { write: [actionStream(action)] }, (draft) =>
    resolveByPerson(draft, { action, status, by, reason, evidence, ...channelField(command) }),
  );
  if (answer.kind === "not_allowed")
    throw new HoldpointError("not_eligible", `The effect was not resolved: ${answer.reason}.`, {
      data: "Nothing was written; the effect is still in doubt.",
      next: "Ask somebody else, in good standing and not the requester.",
    });
  if (answer.kind === "not_in_doubt")
    throw new HoldpointError("not_in_doubt", `The effect ${effect} is ${answer.state.phase}.`, {
      details: { phase: answer.state.phase },
    });
  return structuredClone(answer.state);
}
