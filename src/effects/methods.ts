/** Library methods of receipts and actions. */

import type { ReceiptBundle } from "../journal/receipt-jws.ts";
import { checkFields, checkId } from "../kernel/fields.ts";
import { type Said, STATEMENT, STATEMENT_FIELDS } from "../kernel/said.ts";
import { findIds } from "../runtime/lists.ts";
import type { RuntimeOpener } from "../runtime/runtime.ts";
import {
  ACTION_LABEL,
  type Action,
  type ActionList,
  type ActionPage,
  type ActionSummary,
  abandonedActions,
  checkActionPage,
  getAction,
  getReceipt,
  listActions,
  signedReceipt,
} from "./actions.ts";
import { resolveEffect } from "./resolve.ts";
import type { Receipt } from "./rules/receipt.ts";
import type { LiveAction } from "./state.ts";

export type { RuntimeOpener as Opening } from "../runtime/runtime.ts";

export type Receipts = {
  /** By action, effect or request id. undefined while there is no outcome. */
  get(id: string): Promise<Receipt | undefined>;
  /** Signed, with the proof that the journal that holds it was sealed. */
  signed(id: string): Promise<ReceiptBundle | undefined>;
};

export function receiptsOf(open: RuntimeOpener): Receipts {
  return {
    get: async (id) => getReceipt(await open(), id),
    signed: async (id) => signedReceipt(await open(), id),
  };
}

export type Actions = {
  get(id: string): Promise<Action>;
  list(page: ActionPage): Promise<ActionList>;
  /** Up to ten ids that begin with the text. */
  find(beginning: string): Promise<readonly string[]>;
  /** Effects whose process has ended and that wait for a process with the tool. */
  abandoned(): Promise<readonly ActionSummary[]>;
  /** Resolves an effect in doubt by a person's statement. */
  resolve(effect: string, said: Said & { readonly status: "applied" | "not_applied" }): Promise<LiveAction>;
};

export function actionsOf(open: RuntimeOpener): Actions {
  return {
    get: async (id) => getAction(await open(), id),
    list: async (page) => listActions(await open(), checkActionPage(page)),
    find: async (beginning) => findIds(await open(), "actions", checkId(ACTION_LABEL, beginning)),
    abandoned: async () => abandonedActions(await open()),
    resolve: async (effect, said) =>
      resolveEffect(
        await open(),
        checkId("An effect", effect),
        checkFields(STATEMENT, said, [...STATEMENT_FIELDS, "status"]),
      ),
  };
}
