/** Roles and scopes in words. A role that is missing here does not compile. */
import type { InputOf } from "holdpoint/client";
import type { Scope } from "../../../src/kernel/registry.ts";

type KeyOffer = InputOf<"POST /api/keys">;
export type Role = NonNullable<KeyOffer["roles"]>[number];

export const ROLE_WORDS: { readonly [role in Role]: string } = {
  admin: "everything",
  poster: "creates workflows and sends intents",
  executor: "drives workflows, proposes actions, reports what became of them",
  supervisor: "reads and decides, sends workflows back, gives grants, stops",
  verifier: "reads, verifies the journal, resolves doubt",
  auditor: "reads everything and changes nothing",
};
export const ROLES = Object.keys(ROLE_WORDS) as readonly Role[];

/** Scopes whose words do not follow from their name: `grants:read` is "see grants". */
const SCOPE_WORDS: { readonly [scope in Scope]?: string } = {
  "workflows:write": "create workflows, end them and send them back",
  "actions:read": "see actions and receipts",
  "actions:propose": "propose actions and report their outcome",
  "effects:resolve": "say what became of effects in doubt",
  "grants:read": "see standing grants",
  "grants:write": "give and revoke standing grants",
  "budgets:write": "set budgets",
  "policies:read": "see policies and try them",
  "policies:write": "put policies in force",
  "switch:read": "see the kill switch",
  "switch:write": "stop and release",
  "journal:read": "read the journal and see nodes",
  "journal:verify": "verify the journal",
  "people:write": "add and change people",
  "keys:write": "issue and revoke keys",
  "endpoints:read": "see endpoints and messages",
  "endpoints:write": "add and change endpoints",
  "tenants:manage": "make and close tenants",
};

/** In words: `alerts:acknowledge` is "acknowledge alerts". */
export function scopeWords(scope: string): string {
  const [what = "", verb = ""] = scope.split(":");
  const own: { readonly [scope: string]: string } = SCOPE_WORDS;
  return own[scope] ?? `${verb === "read" ? "see" : verb} ${what}`;
}
