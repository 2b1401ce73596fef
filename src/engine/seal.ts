/** Seals what moved: one at a time, off the path of calls. */
import { type Seal, signSeal } from "../core/seal.ts";
import type { Runtime } from "./runtime.ts";

export async function sealTenant(
  runtime: Pick<Runtime, "store" | "tenant" | "signingKey" | "reach">,
): Promise<Seal | undefined> {
  const key = await runtime.signingKey();
  await runtime.reach("before_seal");
  const seal = await runtime.store.seal(runtime.tenant, (draft) => signSeal(draft, key));
  await runtime.reach("after_seal");
  return seal;
}
