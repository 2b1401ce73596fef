/** A key as it is asked for, and as it is sent. */
import type { InputOf } from "holdpoint/client";
import type { Scope } from "../../../../src/kernel/registry.ts";
import type { Role } from "../../format/rights.ts";
import type { Kind } from "./principals.ts";

export type KeyOffer = Omit<InputOf<"POST /api/keys">, "by">;

export type KeyForm = {
  readonly kind: Kind;
  /** Whom it is for, without the kind. */
  readonly who: string;
  readonly name: string;
  readonly roles: readonly Role[];
  /** Empty: all that the roles bring. */
  readonly scopes: readonly Scope[];
  /** 0: until it is revoked. */
  readonly seconds: number;
};

const QUARTER = 7_776_000;
export const BLANK_KEY: KeyForm = {
  kind: "agent",
  who: "",
  name: "",
  roles: ["executor"],
  scopes: [],
  seconds: QUARTER,
};

/** Null while something is missing. A person's roles stand in the list of people, not in their key. */
export function keyOfferOf({ kind, who, name, roles, scopes, seconds }: KeyForm): KeyOffer | null {
  const bare = who.trim().replace(/^(agent|service|person):/, "");
  if (bare === "" || name.trim() === "") return null;
  return {
    principal: `${kind}:${bare}`,
    name: name.trim(),
    ...(kind === "person" ? {} : { roles: [...roles] }),
    ...(scopes.length === 0 ? {} : { scopes: [...scopes] }),
    ...(seconds === 0 ? {} : { for_seconds: seconds }),
  };
}
