/** What the verbs of standing grants do. */
import { shown } from "../core/error-text.ts";
import { HoldpointError } from "../core/errors.ts";
import { isJsonObject, type JsonObject } from "../core/json.ts";
import { type Money, moneyToJson } from "../core/money.ts";
import { didYouMean } from "../core/policy/nearest.ts";
import { actionStream } from "../core/stream.ts";
import { viaField } from "../core/via.ts";
import { findIds } from "../engine/find-ids.ts";
import { loadArtifact, readState, readStateAt } from "../engine/read-state.ts";
import { eachRow, rowPage } from "../engine/row-pages.ts";
import { runCommand } from "../engine/run-command.ts";
import { freshId, type Opening, type Runtime } from "../engine/runtime.ts";
import { capability, decide, libraryOf, read, run } from "../engine/verb.ts";
import {
  type GrantOffer,
  type GrantStatus,
  type Grants,
  type GrantUse,
  grants,
  type StandingGrant,
  withUses,
} from "./contract.ts";
import { amountFault, giveGrant, revokeGrant, whenFault } from "./rules.ts";
import { grant, isUsedUp, type LiveGrant, type GrantUse as RecordedUse } from "./stream.ts";

type TenantStore = Pick<Runtime, "store" | "tenant">;

const MOST_LOOKED_AT = 20_000;

function statusAt(one: LiveGrant, now: number): GrantStatus {
  if (one.status === "revoked") return "revoked";
  if (now >= one.expiresAt) return "expired";
  return isUsedUp(one) ? "used_up" : "active";
}

function details(id: string, one: LiveGrant, now: number): StandingGrant {
  const { limit, spent, ...terms } = one;
  const status = statusAt(one, now);
  if (limit === null) return structuredClone({ ...terms, id, status, limit });
  const { amount, currency, micros } = limit;
  const sums = { total: { currency, micros: BigInt(micros) }, spent: { currency, micros: spent } };
  return structuredClone({ ...terms, id, status, limit: { amount, ...sums } });
}

const unknownGrant = (id: string): HoldpointError =>
  new HoldpointError("unknown_id", `There is no grant ${shown(id)}.`, {
    next: "`holdpoint grants` lists them.",
  });

const notAllowed = (reason: string): HoldpointError =>
  new HoldpointError("not_eligible", `Nothing was changed: ${reason}.`, {
    data: "Nothing was written.",
    next: "Ask a person in good standing.",
  });

async function getGrant(place: TenantStore, id: string): Promise<StandingGrant> {
  const { state, now } = await readStateAt(place, grant.ref(id));
  if (state.status === "none") throw unknownGrant(id);
  return details(id, state, now);
}

const toMoney = (amount: RecordedUse["amount"]): Money | null =>
  amount === null ? null : { currency: amount.currency, micros: BigInt(amount.micros) };

/** Every use, oldest first. */
async function readUses({ store, tenant }: TenantStore, id: string): Promise<readonly GrantUse[]> {
  const uses = new Map<string, GrantUse>();
  for (const { header, body } of await store.read(tenant, grant.ref(id))) {
    const { type, at } = JSON.parse(header) as { type: string; at: number };
    if (body === null || (type !== "grant.used" && type !== "grant.returned")) continue;
    const { action, effect, amount } = JSON.parse(body) as RecordedUse;
    const since = uses.get(effect)?.at ?? at;
    uses.set(effect, {
      at: since,
      action,
      effect,
      amount: toMoney(amount),
      returned: type === "grant.returned",
    });
  }
  return [...uses.values()];
}

/** The JSON Schema of a tool's arguments, where its schema library could express it. */
async function argumentsSchema(runtime: Runtime, digest: string): Promise<JsonObject | null> {
  const own = [...runtime.tools.values()].find(({ rules }) => rules.schemaDigest === digest);
  const text = own?.rules.schemaText;
  if (typeof text === "string") return JSON.parse(text) as JsonObject;
  const bytes = await runtime.store.artifact(runtime.tenant, digest);
  const kept = bytes === undefined ? null : await loadArtifact(runtime, digest);
  return isJsonObject(kept) ? kept : null;
}

/** The schema of a tool that this process declares, or of the last action that was proposed with it. */
async function schemaDigest(runtime: Runtime, tool: string): Promise<string> {
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

/** Against the tool's arguments, as far as they are known. */
function checkExpressions({ when, amount }: GrantOffer, schema: JsonObject | null): void {
  const faults = [
    ["when", when, when === undefined ? undefined : whenFault(when, schema)],
    ["amount", amount, amount === undefined ? undefined : amountFault(amount, schema)],
  ] as const;
  for (const [field, text, fault] of faults)
    if (fault !== undefined)
      throw new HoldpointError(
        "invalid_input",
        `"${field}" cannot be used: ${fault}. It is "${shown(text)}".`,
      );
}

const BUCKETS = { active: "active", expired: "active", used_up: "used_up", revoked: "revoked" } as const;

export const grantVerbs = capability(grants, {
  /** A page may be short of grants that have expired. */
  list: read(async (runtime, { status, tool, limit = 100, after }) => {
    const bucket = status === "any" ? status : BUCKETS[status];
    const list = { view: "grants", kind: grant.kind, prefix: "grt", bucket, order: "newest" } as const;
    const { rows, next } = await rowPage(runtime, { ...list, limit, after });
    const all = await Promise.all(rows.map(({ stream }) => getGrant(runtime, stream.id)));
    const isMeant = (one: StandingGrant) =>
      (status === "any" || one.status === status) && (tool === undefined || one.tool === tool);
    return { items: all.filter(isMeant), next };
  }),

  give: run(async ({ runtime, how }, offer) => {
    const { forMs: lastsMs, total, amount, when = null, agent = null, ...terms } = offer;
    checkExpressions(offer, null);
    const schema = await schemaDigest(runtime, offer.tool);
    checkExpressions(offer, await argumentsSchema(runtime, schema));
    const id = freshId(runtime, "grt");
    const limit = total === undefined || amount === undefined ? null : { ...moneyToJson(total), amount };
    const asked = agent === null || agent.startsWith("agent:") ? agent : `agent:${agent}`;
    const given = { ...terms, schema, agent: asked, when, limit, lastsMs, grant: id, ...viaField(how) };
    const answer = await runCommand(runtime, {}, (draft) => giveGrant(draft, given));
    if (answer.kind === "not_allowed") throw notAllowed(answer.reason);
    return getGrant(runtime, id);
  }),

  get: read(async (runtime, { id }) => ({
    ...(await getGrant(runtime, id)),
    usedBy: await readUses(runtime, id),
  })),

  find: read((runtime, { beginning }) => findIds(runtime, "grants", beginning)),

  revoke: decide(
    (draft, { id, by, reason }, how) => revokeGrant(draft, { grant: id, by, reason, ...viaField(how) }),
    (runtime, decision, { id }) => {
      if (decision.kind === "unknown") throw unknownGrant(id);
      if (decision.kind === "not_allowed") throw notAllowed(decision.reason);
      return getGrant(runtime, id);
    },
  ),
});

export const grantsOf = (open: Opening): Grants => withUses(libraryOf(open, grantVerbs));
