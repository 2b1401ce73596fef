/** Roles and scopes in words. The lists are the server's: one that is missing here does not compile. */
import type { InputOf } from "holdpoint/client";

type KeyOffer = InputOf<"POST /api/keys">;
export type Role = NonNullable<KeyOffer["roles"]>[number];
export type Scope = NonNullable<KeyOffer["scopes"]>[number];

export const ROLE_WORDS: { readonly [role in Role]: string } = {
  admin: "everything",
  poster: "creates workflows and sends intents",
  executor: "drives workflows, proposes actions, reports what became of them",
  supervisor: "reads and decides, sends workflows back, gives grants, stops",
  verifier: "reads, verifies the journal, resolves doubt",
  auditor: "reads everything and changes nothing",
};
export const ROLES = Object.keys(ROLE_WORDS) as readonly Role[];

export const SCOPE_WORDS: { readonly [scope in Scope]: string } = {
  "workflows:read": "see workflows",
  "workflows:write": "create workflows, end them and send them back",
  "workflows:drive": "drive workflows",
  "actions:read": "see actions and receipts",
  "actions:propose": "propose actions and report their outcome",
  "approvals:read": "see approvals",
  "approvals:decide": "decide approvals",
  "effects:resolve": "say what became of effects in doubt",
  "intents:read": "see intents",
  "intents:send": "send intents",
  "intents:answer": "answer intents",
  "grants:read": "see standing grants",
  "grants:write": "give and revoke standing grants",
  "budgets:read": "see budgets",
  "budgets:write": "set budgets",
  "policies:read": "see policies and try them",
  "policies:write": "put policies in force",
  "switch:read": "see the kill switch",
  "switch:write": "stop and release",
  "alerts:read": "see alerts",
  "alerts:acknowledge": "acknowledge alerts",
  "journal:read": "read the journal and see nodes",
  "journal:verify": "verify the journal",
  "people:read": "see people",
  "people:write": "add and change people",
  "keys:read": "see keys",
  "keys:write": "issue and revoke keys",
  "endpoints:read": "see endpoints and messages",
  "endpoints:write": "add and change endpoints",
  "tenants:manage": "make and close tenants",
};
export const SCOPES = Object.keys(SCOPE_WORDS) as readonly Scope[];

const isScope = (scope: string): scope is Scope => Object.hasOwn(SCOPE_WORDS, scope);
export const scopeWords = (scope: string): string => (isScope(scope) ? SCOPE_WORDS[scope] : scope);
