/** Implementation of the verbs of actions, of effects in doubt and of receipts. */
import { channelField } from "../kernel/principal.ts";
import { findIds } from "../runtime/lists.ts";
import { capability, decideVerb, readVerb, runVerb } from "../runtime/verb.ts";
import {
  abandonedActions,
  countActions,
  getAction,
  listActions,
  requireReceipt,
  signedReceipt,
} from "./actions.ts";
import { actions, PHASES, receipts } from "./contract.ts";
import { prepareStatement, requireResolved } from "./resolve.ts";
import { resolveByPerson } from "./rules/outcome.ts";
import { actionIdOf } from "./rules/start.ts";

export const actionVerbs = capability(actions, {
  list: readVerb(listActions),
  get: readVerb((runtime, { id }) => getAction(runtime, id)),
  resolve: decideVerb(
    (draft, { id, status, by, reason, evidence = null }, how) => {
      const statement = { action: actionIdOf(id), status, by, reason, evidence };
      return resolveByPerson(draft, { ...statement, ...channelField(how) });
    },
    (runtime, answer, { id }) => {
      requireResolved(id, answer);
      return getAction(runtime, id);
    },
    prepareStatement,
  ),
  count: readVerb((runtime, { phase }) => countActions(runtime, phase === "any" ? PHASES : [phase])),
  find: readVerb((runtime, { beginning }) => findIds(runtime, "actions", beginning)),
  abandoned: readVerb(abandonedActions),
});

export const receiptVerbs = capability(receipts, {
  get: readVerb((runtime, { id }) => requireReceipt(runtime, id)),
  sign: runVerb(({ runtime }, { id }) => signedReceipt(runtime, id)),
});
