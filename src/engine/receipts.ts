/** Receipts: read back, and signed with their path to a seal when asked for. */

import { requestName } from "../core/action/propose.ts";
import { type Receipt, receiptOf, receiptPayload } from "../core/action/receipt.ts";
import { actionOf } from "../core/action/start.ts";
import { type ReceiptBundle, signReceipt } from "../journal/receipt-jws.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { actionStream, streamName } from "../kernel/stream.ts";
import { sealTenant } from "../runtime/keyring.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { readState } from "../runtime/store-access.ts";

type Place = Pick<Runtime, "store" | "tenant">;

/** The action behind an action's, an effect's or a caller's request id. */
export async function findAction(place: Place, id: string): Promise<string> {
  if (typeof id !== "string" || id === "") throw new HoldpointError("invalid_input", "An id is needed.");
  if (/^(act|eff)_[0-9A-Z]{26}$/.test(id)) return actionOf(id);
  const names = [requestName(id)];
  const found = await place.store.transact(place.tenant, { names }, (sight) => ({
    kind: "commit",
    append: [],
    result: sight.name(requestName(id)),
  }));
  if (found === undefined) throw new HoldpointError("unknown_id", `There is no action under "${id}".`);
  return found.id;
}

/** Undefined while the effect has no outcome: nothing started, or it still runs. */
export async function getReceipt(place: Place, id: string): Promise<Receipt | undefined> {
  const action = await findAction(place, id);
  const state = await readState(place, actionStream(action));
  if (state.phase === "none") throw new HoldpointError("unknown_id", `There is no action ${action}.`);
  return "outcome" in state ? receiptOf(place.tenant, action, state) : undefined;
}

/** Seals first, so that the receipt comes with its proof. */
export async function signedReceipt(runtime: Runtime, id: string): Promise<ReceiptBundle | undefined> {
  const receipt = await getReceipt(runtime, id);
  if (receipt === undefined) return undefined;
  await sealTenant(runtime);
  const stream = actionStream(receipt.action);
  const entries = await runtime.store.read(runtime.tenant, stream, { fromSeq: receipt.seq });
  const [outcome, ...later] = entries;
  if (outcome === undefined)
    throw new HoldpointError("store_corrupt", `The entry ${receipt.seq} of ${receipt.stream} is missing.`);
  const seal = await runtime.store.sealOver(runtime.tenant, outcome.position);
  const sealedAt = seal?.leaves.find((leaf) => leaf.stream === streamName(stream))?.seq ?? receipt.seq;
  const links = later.slice(0, sealedAt - receipt.seq).map((entry) => entry.header);
  const proof = seal === undefined ? undefined : { seal, links };
  return signReceipt(receiptPayload(receipt, outcome.hash), await runtime.signingKey(), proof);
}
