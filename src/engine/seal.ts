/** Seals what moved: one at a time, off the path of calls, always with the key that sealed before. */

import { openJws, type SigningKey } from "../journal/jws.ts";
import { SEAL_TYP, type Seal, type SealDraft, signSeal } from "../journal/seal.ts";
import type { SavedSeal } from "../journal/verify-seals.ts";

import { HoldpointError } from "../kernel/errors.ts";
import type { Runtime } from "./runtime.ts";

function checkKey({ previous }: Pick<SealDraft, "previous">, key: SigningKey): void {
  if (previous === undefined) return;
  const sealedWith = openJws(previous, SEAL_TYP)?.kid;
  if (sealedWith === key.kid) return;
  const what = `This store was sealed with the key ${sealedWith ?? "unknown"} and this process has ${key.kid}.`;
  throw new HoldpointError("key_mismatch", what);
}

/** Nothing may be left to seal, and the key be another one all the same. */
export async function refuseOtherKey(
  runtime: Pick<Runtime, "store" | "tenant" | "signingKey">,
): Promise<void> {
  const key = await runtime.signingKey();
  const last = await runtime.store.sealOver(runtime.tenant, "last");
  if (last !== undefined) checkKey({ previous: last.jws }, key);
}

export async function sealTenant(
  runtime: Pick<Runtime, "store" | "tenant" | "signingKey" | "reach" | "history">,
): Promise<Seal | undefined> {
  const key = await runtime.signingKey();
  await runtime.history.refuseRestored();
  await runtime.reach("before_seal");
  const seal = await runtime.store.seal(runtime.tenant, (draft) => {
    checkKey(draft, key);
    runtime.history.judge(draft);
    return signSeal(draft, key);
  });
  if (seal !== undefined) runtime.history.saw(seal);
  await runtime.reach("after_seal");
  return seal;
}

/** Seals now; answers the last seal with its key, to be kept where nobody who writes the store can reach it. */
export async function savedSeal(runtime: Parameters<typeof sealTenant>[0]): Promise<SavedSeal | undefined> {
  await sealTenant(runtime);
  const last = await runtime.store.sealOver(runtime.tenant, "last");
  if (last === undefined) return undefined;
  const key = await runtime.signingKey();
  checkKey({ previous: last.jws }, key);
  return { jws: last.jws, key: key.publicJwk };
}
