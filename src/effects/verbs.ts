/** Implementation of the verbs of actions, of effects in doubt and of receipts. */
import { HoldpointError } from "../kernel/errors.ts";
import { isId } from "../kernel/ids.ts";
import { channelField, type Via } from "../kernel/principal.ts";
import { actionStream } from "../kernel/stream.ts";
import { displayValue } from "../kernel/text.ts";
import { keepText, settleTexts } from "../people/secret-guesses/limit.ts";
import { findIds } from "../runtime/lists.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { tryResolveSecrets } from "../runtime/secrets.ts";
import { loadValue, readState } from "../runtime/store-access.ts";
import { capability, preparedVerb, readVerb, runVerb } from "../runtime/verb.ts";
import {
  abandonedActions,
  countActions,
  getAction,
  listActions,
  requireReceipt,
  signedReceipt,
} from "./actions.ts";
import { actions, type EffectStatement, PHASES, receipts } from "./contract.ts";
import { type ResolveAnswer, resolveByPerson } from "./rules/outcome.ts";
import { actionIdOf } from "./rules/start.ts";

type Resolution = EffectStatement & { readonly id: string };

/** People's texts are stored in clear, so the values of the action's secrets are removed. */
async function prepareStatement(runtime: Runtime, given: Resolution, how: Via) {
  const { id, status, by, reason, evidence } = given;
  const action = actionIdOf(id);
  const ref = actionStream(action);
  const state = isId("act", action) ? await readState(runtime, ref) : { phase: "none" as const };
  if (state.phase === "none")
    throw new HoldpointError("unknown_id", `There is no effect ${displayValue(id)}.`);
  const known = await tryResolveSecrets(runtime.secrets, await loadValue(runtime, state.args));
  const words = keepText(runtime, { by, text: reason, known });
  const found = evidence === undefined ? null : keepText(runtime, { by, text: evidence, known });
  const texts = { reason: words.text, evidence: found?.text ?? null };
  const command = { action, status, by, ...texts, ...channelField(how) };
  return { input: { id, command, kept: found === null ? [words] : [words, found] }, needs: { write: [ref] } };
}

/** Throws if the rule did not resolve the effect. */
function requireResolved(effect: string, answer: ResolveAnswer): void {
  if (answer.kind === "not_allowed")
    throw new HoldpointError("not_eligible", `The effect was not resolved: ${answer.reason}.`, {
      data: "Nothing was written; the effect is still in doubt.",
      next: "Ask another person, in good standing and not the requester.",
    });
  if (answer.kind === "not_in_doubt")
    throw new HoldpointError("not_in_doubt", `The effect ${effect} is ${answer.state.phase}.`, {
      details: { phase: answer.state.phase },
    });
}

export const actionVerbs = capability(actions, {
  list: readVerb(listActions),
  get: readVerb((runtime, { id }) => getAction(runtime, id)),
  resolve: preparedVerb(
    prepareStatement,
    (draft, { command }) => resolveByPerson(draft, command),
    async (runtime, answer, { id, kept }) => {
      await settleTexts(kept, () => requireResolved(id, answer));
      return getAction(runtime, id);
    },
  ),
  count: readVerb((runtime, { phase }) => countActions(runtime, phase === "any" ? PHASES : [phase])),
  find: readVerb((runtime, { beginning }) => findIds(runtime, "actions", beginning)),
  abandoned: readVerb(abandonedActions),
});

export const receiptVerbs = capability(receipts, {
  get: readVerb((runtime, { id }) => requireReceipt(runtime, id)),
  sign: runVerb(({ runtime }, { id }) => signedReceipt(runtime, id)),
});
