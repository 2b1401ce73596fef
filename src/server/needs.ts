import { HoldpointError } from "../kernel/errors.ts";
import type { Scope } from "../people/rules/scopes.ts";
import type { Asked } from "./route.ts";

/** Of what shows more than the scope of its route covers. */
export function checkScopes({ who }: Pick<Asked, "who">, needed: readonly Scope[]): void {
  const lacking = needed.find((scope) => !who.can(scope));
  if (lacking !== undefined) throw new HoldpointError("forbidden", `This needs the scope ${lacking}.`);
}
