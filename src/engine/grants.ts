/** Standing grants: giving, reading and revoking them, and finding those that may cover a call. */

import { shown } from "../core/error-text.ts";
import { HoldpointError } from "../core/errors.ts";
import type { GrantLimit, GrantTerms, GrantUse as Use } from "../core/grant/events.ts";
import type { Candidate } from "../core/grant/fit.ts";
import { giveGrant, revokeGrant } from "../core/grant/give.ts";
import { isUsedUp, type LiveGrant } from "../core/grant/state.ts";
import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import type { Money } from "../core/money.ts";
import { didYouMean } from "../core/policy/nearest.ts";
import { actionStream, grantStream } from "../core/stream.ts";
import { type Via, viaField } from "../core/via.ts";
import type { ViewRow } from "../stores/store.ts";
import {
  checkExpressions,
  checkOffer,
  type GrantOffer,
  type GrantPage,
  limitOfOffer,
} from "./check-grant.ts";
import { checkSaid, type Said } from "./operate.ts";
import { loadArtifact, readState, readStateAt } from "./read-state.ts";
import { eachRow, rowPage } from "./row-pages.ts";
import { runCommand } from "./run-command.ts";
import { freshId, type Runtime } from "./runtime.ts";

type Place = Pick<Runtime, "store" | "tenant">;

export type GrantStatus = "active" | "used_up" | "expired" | "revoked";

/** A standing grant and how much of it is left. */
export type StandingGrant = Omit<GrantTerms, "limit"> & {
  readonly id: string;
  readonly status: GrantStatus;
  readonly givenAt: number;
  readonly used: number;
  /** What all uses may come to, what they have come to, and the expression that says what one does; null: no limit. */
  readonly limit: { readonly amount: string; readonly total: Money; readonly spent: Money } | null;
  readonly revoked: LiveGrant["revoked"];
};

/** One use of it; `returned` when its effect certainly did nothing, so that it does not count. */
export type GrantUse = {
  readonly at: number;
  readonly action: string;
  readonly effect: string;
  readonly amount: Money | null;
  readonly returned: boolean;
};

export type GrantList = { readonly items: readonly StandingGrant[]; readonly next: string | null };

const MOST_CANDIDATES = 100;
const MOST_LOOKED_AT = 20_000;

function statusAt(grant: LiveGrant, now: number): GrantStatus {
  if (grant.status === "revoked") return "revoked";
  if (now >= grant.expiresAt) return "expired";
  return isUsedUp(grant) ? "used_up" : "active";
}

function limitOf(limit: GrantLimit | null, spent: bigint): StandingGrant["limit"] {
  if (limit === null) return null;
  const { amount, currency, micros } = limit;
  return { amount, total: { currency, micros: BigInt(micros) }, spent: { currency, micros: spent } };
}

function detailsOf(id: string, grant: LiveGrant, now: number): StandingGrant {
  const { limit, spent, ...terms } = grant;
  return structuredClone({ ...terms, id, status: statusAt(grant, now), limit: limitOf(limit, spent) });
}

function unknownGrant(id: string): HoldpointError {
  return new HoldpointError("unknown_id", `There is no grant ${shown(id)}.`, {
    next: "`holdpoint grants` lists them.",
  });
}

export async function getGrant(place: Place, id: string): Promise<StandingGrant> {
  const { state, now } = await readStateAt(place, grantStream(id));
  if (state.status === "none") throw unknownGrant(id);
  return detailsOf(id, state, now);
}

const moneyOf = (amount: Use["amount"]): Money | null =>
  amount === null ? null : { currency: amount.currency, micros: BigInt(amount.micros) };

/** Every use, oldest first. */
export async function usesOf(place: Place, id: string): Promise<readonly GrantUse[]> {
  const uses = new Map<string, GrantUse>();
  for (const { header, body } of await place.store.read(place.tenant, grantStream(id))) {
    const { type, at } = JSON.parse(header) as { type: string; at: number };
    if (body === null || (type !== "grant.used" && type !== "grant.returned")) continue;
    const { action, effect, amount } = JSON.parse(body) as Use;
    const before = uses.get(effect)?.at ?? at;
    uses.set(effect, {
      at: before,
      action,
      effect,
      amount: moneyOf(amount),
      returned: type === "grant.returned",
    });
  }
  return [...uses.values()];
}

/** The JSON Schema of a tool's arguments, where its library could say it. */
async function argumentsOf(runtime: Runtime, digest: string): Promise<JsonObject | null> {
  const own = [...runtime.tools.values()].find(({ rules }) => rules.schemaDigest === digest);
  const text = own?.rules.schemaText;
  if (typeof text === "string") return JSON.parse(text) as JsonObject;
  const bytes = await runtime.store.artifact(runtime.tenant, digest);
  const kept = bytes === undefined ? null : await loadArtifact(runtime, digest);
  return isJsonObject(kept) ? kept : null;
}

/** The schema of a tool that this process declares, or that was last proposed with here. */
async function schemaOf(runtime: Runtime, tool: string): Promise<string> {
  const own = runtime.tools.get(tool);
  if (own !== undefined) return own.rules.schemaDigest;
  const others = new Set<string>();
  let seen = 0;
  for await (const { data, stream } of eachRow(runtime, { view: "actions", order: "newest" })) {
    const state = data["tool"] === tool ? await readState(runtime, actionStream(stream.id)) : undefined;
    if (state !== undefined && state.phase !== "none") return state.schema;
    others.add(String(data["tool"]));
    if (++seen === MOST_LOOKED_AT) break;
  }
  throw new HoldpointError(
    "unknown_tool",
    `No action of the tool "${shown(tool)}" was found here${didYouMean(tool, others)}.`,
    {
      next: "Check the name, give the grant in a program that declares the tool, or wait until it is first called.",
    },
  );
}

function notAllowed(reason: string): HoldpointError {
  return new HoldpointError("not_eligible", `Nothing was changed: ${reason}.`, {
    data: "Nothing was written.",
    next: "Ask a person in good standing.",
  });
}

export async function giveStanding(
  runtime: Runtime,
  given: GrantOffer,
  how: Via = {},
): Promise<StandingGrant> {
  const { tool, by, reason, uses, forMs, when = null, agent = null, ...rest } = checkOffer(given);
  const schema = await schemaOf(runtime, tool);
  checkExpressions(given, await argumentsOf(runtime, schema));
  const grant = freshId(runtime, "grt");
  const who = agent === null || agent.startsWith("agent:") ? agent : `agent:${agent}`;
  const limit = limitOfOffer(rest);
  const terms = { tool, schema, agent: who, when, uses, limit, by, reason, grant, lastsMs: forMs };
  const answer = await runCommand(runtime, { write: [grantStream(grant)] }, (draft) =>
    giveGrant(draft, { ...terms, ...viaField(how) }),
  );
  if (answer.kind === "not_allowed") throw notAllowed(answer.reason);
  return getGrant(runtime, grant);
}

export async function revokeStanding(
  runtime: Pick<Runtime, "store" | "tenant" | "clock">,
  grant: string,
  said: Said & Via,
): Promise<StandingGrant> {
  checkSaid(said);
  const { by, reason } = said;
  const answer = await runCommand(runtime, { write: [grantStream(grant)] }, (draft) =>
    revokeGrant(draft, { grant, by, reason, ...viaField(said) }),
  );
  if (answer.kind === "unknown") throw unknownGrant(grant);
  if (answer.kind === "not_allowed") throw notAllowed(answer.reason);
  return getGrant(runtime, grant);
}

const BUCKETS = { active: "active", expired: "active", used_up: "used_up", revoked: "revoked" } as const;

/** Newest first. A page may be short of rows whose time was over. */
export async function listGrants(place: Place, page: GrantPage = {}): Promise<GrantList> {
  const { status = "active", tool, limit = 100, after } = page;
  const bucket = status === "any" ? status : BUCKETS[status];
  const list = { view: "grants", kind: "grant", prefix: "grt", bucket, order: "newest" } as const;
  const { rows, next } = await rowPage(place, { ...list, limit, after });
  const grants = await Promise.all(rows.map(({ stream }) => getGrant(place, stream.id)));
  const items = grants.filter(
    (grant) => (status === "any" || grant.status === status) && (tool === undefined || grant.tool === tool),
  );
  return { items, next };
}

const isTerms = ({ data }: ViewRow): boolean => isJsonObject(data) && typeof data["tool"] === "string";

/** What rules are handed when they ask which grants may cover a call of a tool; they look again under the lock. */
export async function candidatesFor({ store, tenant }: Place, tool: string): Promise<Json> {
  const query = { view: "standing", bucket: tool, order: "newest", limit: MOST_CANDIDATES } as const;
  const rows = await store.query(tenant, query);
  const found = rows.filter(isTerms).map((row) => ({ id: row.stream.id, ...row.data }));
  return found as unknown as readonly Candidate[] as unknown as Json;
}
