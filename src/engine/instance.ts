/** What an embedding program holds in its hands: verbs over a runtime that opens itself at the first use. */
import type { Receipt } from "../core/action/receipt.ts";
import type { LiveAction } from "../core/action/state.ts";
import { checkActionPage } from "../effects/actions.ts";
import { resolveEffect } from "../effects/resolve.ts";
import type { ReceiptBundle } from "../journal/receipt-jws.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { checkFields, checkId } from "../kernel/fields.ts";
import type { SecretHandle } from "../kernel/stored-value.ts";
import { type Said, STATEMENT, STATEMENT_FIELDS } from "../people/input.ts";
import { findIds } from "../runtime/lists.ts";
import { freshId, type RuntimeOpener } from "../runtime/runtime.ts";
import {
  type Action,
  type ActionList,
  type ActionPage,
  type ActionSummary,
  abandonedActions,
  getAction,
  listActions,
} from "./actions.ts";
import { getReceipt, signedReceipt } from "./receipts.ts";

export type { RuntimeOpener as Opening } from "../runtime/runtime.ts";

export const ACTION = "An action";

export type Receipts = {
  /** By action, effect or request id; undefined while there is no outcome. */
  get(id: string): Promise<Receipt | undefined>;
  /** Signed, with the proof that the journal which holds it was sealed. */
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
  /** Ids that begin with a text, at most ten. */
  find(beginning: string): Promise<readonly string[]>;
  /** Effects whose process is gone and which wait for one that has the tool. */
  abandoned(): Promise<readonly ActionSummary[]>;
  /** A person's word on an effect in doubt. */
  resolve(effect: string, said: Said & { readonly status: "applied" | "not_applied" }): Promise<LiveAction>;
};

export function actionsOf(open: RuntimeOpener): Actions {
  return {
    get: async (id) => getAction(await open(), id),
    list: async (page) => listActions(await open(), checkActionPage(page)),
    find: async (beginning) => findIds(await open(), "actions", checkId(ACTION, beginning)),
    abandoned: async () => abandonedActions(await open()),
    resolve: async (effect, said) =>
      resolveEffect(
        await open(),
        checkId("An effect", effect),
        checkFields(STATEMENT, said, [...STATEMENT_FIELDS, "status"]),
      ),
  };
}

/** Keeps a value as an encrypted row and answers its handle. */
export async function putSecret(open: RuntimeOpener, value: string): Promise<SecretHandle> {
  if (typeof value !== "string" || value === "")
    throw new HoldpointError("invalid_input", "A secret is a text that is not empty.");
  const runtime = await open();
  return runtime.secrets.put(freshId(runtime, "sec"), value);
}
