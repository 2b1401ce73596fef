/**
 * The registry: what every kind of stream and every scope is called, as data without imports. Tables that need these
 * words are derived from it: ids and their prefixes, live events, lookups of ids, roles, the walls of the architecture
 * test. Tables that need a capability's code are generated from its files: `src/streams.ts`, `src/contracts.ts`,
 * `src/verbs.ts`, `src/cli/resource-table.ts` and both `listed-pages.ts` (`npm run generate`).
 *
 * - Words of the journal never change: the name of a kind, the prefix of an id.
 * - The order of scopes is the order of every list of them.
 */

/** Folders of capabilities, lowest first: the rules of one build on its own folder and on those before it. */
export const FOLDERS = [
  ...(["kill-switch", "people", "budgets", "policy", "grants", "approvals", "effects", "workflows"] as const),
  ...(["agents", "alerts", "notify", "supervise"] as const),
];

type KindFacts = {
  /** Prefix of its ids. Default: its streams have names. */
  readonly prefix?: string;
  /** Name of its contract, of its list and of the library's group, if it has those. */
  readonly resource?: string;
  /** Scope that reads its events as they happen. Default: `journal:read`. */
  readonly read?: Scope;
};

/** By kind of stream. */
const KINDS = {
  action: { prefix: "act", resource: "actions", read: "actions:read" },
  alert: { prefix: "alr", resource: "alerts", read: "alerts:read" },
  answer: {},
  approval: { prefix: "apr", resource: "approvals", read: "approvals:read" },
  budget: { read: "budgets:read" },
  endpoint: { prefix: "end", resource: "endpoints" },
  epoch: { prefix: "epo" },
  grant: { prefix: "grt", resource: "grants", read: "grants:read" },
  intent: { prefix: "int", resource: "intents", read: "intents:read" },
  key: { prefix: "key", resource: "keys" },
  login: { prefix: "lgn" },
  message: { prefix: "msg", resource: "messages" },
  monitor: {},
  notifier: {},
  policy: { read: "policies:read" },
  roster: {},
  session: { prefix: "ses" },
  store: {},
  switch: { read: "switch:read" },
  tenant: {},
  workflow: { prefix: "wf", resource: "workflows", read: "workflows:read" },
} as const satisfies {
  readonly [kind: string]: Pick<KindFacts, "prefix" | "resource"> & { readonly read?: string };
};

export type StreamKind = keyof typeof KINDS;
export const STREAM_KINDS = Object.keys(KINDS) as readonly StreamKind[];

type Facts = (typeof KINDS)[StreamKind];
type Listed = Extract<Facts, { readonly resource: string }>;
/** Names of lists in which an id is found. */
export type ListName = Listed["resource"];
export type ListedPrefix = Listed["prefix"];
/** Prefixes of ids: those of streams, and of effects, secrets, nonces, snapshots and trials. */
export type IdPrefix =
  | Extract<Facts, { readonly prefix: string }>["prefix"]
  | ("eff" | "sec" | "non" | "snap" | "trl");

/** Kinds whose ids are listed, and found by how they begin. */
export const LISTED_KINDS = STREAM_KINDS.flatMap((kind) => {
  const { prefix, resource }: KindFacts = KINDS[kind];
  return prefix === undefined || resource === undefined
    ? []
    : { kind, prefix: prefix as ListedPrefix, resource: resource as ListName };
});

type ScopeFacts = {
  /** Roles that have it beside `admin`, and `auditor` if it only reads. */
  readonly roles: readonly ("poster" | "executor" | "supervisor" | "verifier" | "auditor")[];
  /** To decide for people, or to change the rules of decisions: no agent or service has it. */
  readonly isForPeople?: true;
};

/** Roles of participants in the work. What the others do, and their keys, is not theirs to read. */
const WORKERS = ["poster", "executor", "supervisor", "verifier"] as const;

/** The closed list of scopes, by name. */
const SCOPE_FACTS = {
  "workflows:read": { roles: WORKERS },
  "workflows:write": { roles: ["poster", "supervisor"] },
  "workflows:drive": { roles: ["executor"] },
  "actions:read": { roles: WORKERS },
  "actions:propose": { roles: ["executor"] },
  "approvals:read": { roles: WORKERS },
  "approvals:decide": { roles: ["supervisor"], isForPeople: true },
  "effects:resolve": { roles: ["verifier"], isForPeople: true },
  "intents:read": { roles: WORKERS },
  "intents:send": { roles: ["poster", "executor"] },
  "intents:answer": { roles: ["executor", "supervisor"] },
  "grants:read": { roles: ["supervisor", "verifier"] },
  "grants:write": { roles: ["supervisor"], isForPeople: true },
  "budgets:read": { roles: WORKERS },
  "budgets:write": { roles: [], isForPeople: true },
  "policies:read": { roles: WORKERS },
  "policies:write": { roles: [], isForPeople: true },
  "switch:read": { roles: WORKERS },
  "switch:write": { roles: ["supervisor"], isForPeople: true },
  "alerts:read": { roles: ["supervisor", "verifier"] },
  "alerts:acknowledge": { roles: ["supervisor"], isForPeople: true },
  "journal:read": { roles: ["supervisor", "verifier"] },
  "journal:verify": { roles: ["verifier", "auditor"] },
  "people:read": { roles: ["supervisor", "verifier"] },
  "people:write": { roles: [], isForPeople: true },
  "keys:read": { roles: [] },
  "keys:write": { roles: [], isForPeople: true },
  "endpoints:read": { roles: [] },
  "endpoints:write": { roles: [] },
  "tenants:manage": { roles: [], isForPeople: true },
} as const satisfies { readonly [scope: string]: ScopeFacts };

export type Scope = keyof typeof SCOPE_FACTS;
export const SCOPES = Object.keys(SCOPE_FACTS) as readonly Scope[];
/** The table's facts as one type. */
export const scopeFacts = (scope: Scope): ScopeFacts => SCOPE_FACTS[scope];

export function scopeToRead(kind: StreamKind): Scope {
  const { read = "journal:read" }: KindFacts = KINDS[kind];
  return read;
}
