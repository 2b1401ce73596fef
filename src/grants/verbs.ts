/** Implementation of the verbs of standing grants. */

import { argumentsSchema, schemaDigest } from "../effects/arguments.ts";
import { unknownId } from "../kernel/contract.ts";
import { rejectInput } from "../kernel/fields.ts";
import type { JsonObject } from "../kernel/json.ts";
import { moneyFromJson, moneyToJson } from "../kernel/money.ts";
import { channelField } from "../kernel/principal.ts";
import { displayValue } from "../kernel/text.ts";
import { findIds, rowPage } from "../runtime/lists.ts";
import { freshId, type Runtime } from "../runtime/runtime.ts";
import { readStateAt, runCommand } from "../runtime/store-access.ts";
import { capability, decideVerb, notEligible, readVerb, runVerb } from "../runtime/verb.ts";
import { type GrantOffer, type GrantUse, grants, type StandingGrant } from "./contract.ts";
import { amountFault, giveGrant, revokeGrant, whenFault } from "./rules.ts";
import { grant, type LiveGrant, type RecordedGrantUse as RecordedUse, statusIn } from "./stream.ts";

function details(id: string, one: LiveGrant, now: number): StandingGrant {
  const { limit, spent, ...terms } = one;
  const status = one.status === "given" && now >= one.expiresAt ? "expired" : statusIn(one);
  if (limit === null) return structuredClone({ ...terms, id, status, limit });
  const { amount, currency, micros } = limit;
  const sums = { total: { currency, micros: BigInt(micros) }, spent: { currency, micros: spent } };
  return structuredClone({ ...terms, id, status, limit: { amount, ...sums } });
}

async function getGrant(runtime: Runtime, id: string): Promise<StandingGrant> {
  const { state, now } = await readStateAt(runtime, grant.ref(id));
  if (state.status === "none") throw unknownId(grants, id);
  return details(id, state, now);
}

/** Every use, oldest first. */
async function readUses({ store, tenant }: Runtime, id: string): Promise<readonly GrantUse[]> {
  const entries = await store.read(tenant, grant.ref(id));
  if (entries.length === 0) throw unknownId(grants, id);
  const uses = new Map<string, GrantUse>();
  for (const { type, at, body } of entries) {
    if (body === null || (type !== "grant.used" && type !== "grant.returned")) continue;
    const { action, effect, amount } = JSON.parse(body) as RecordedUse;
    const since = uses.get(effect)?.at ?? at;
    const returned = type === "grant.returned";
    uses.set(effect, { at: since, action, effect, amount: amount && moneyFromJson(amount), returned });
  }
  return [...uses.values()];
}

/** Checks the expressions against the tool's input schema, if it is known. */
function checkExpressions({ when, amount }: GrantOffer, schema: JsonObject | null): void {
  const checks = { when: [when, whenFault], amount: [amount, amountFault] } as const;
  for (const [field, [text, faultIn]] of Object.entries(checks)) {
    const fault = text === undefined ? undefined : faultIn(text, schema);
    if (fault !== undefined)
      rejectInput(`"${field}" cannot be used: ${fault}. It is "${displayValue(text)}".`);
  }
}

const BUCKETS = { active: "active", expired: "active", used_up: "used_up", revoked: "revoked" } as const;

export const grantVerbs = capability(grants, {
  /** A page may hold fewer items than `limit`, because expired grants are filtered after the query. */
  list: readVerb(async (runtime, { status, tool, limit = 100, after }) => {
    const bucket = status === "any" ? status : BUCKETS[status];
    const list = { view: "grants", kind: grant.kind, prefix: "grt", bucket, order: "newest" } as const;
    const { rows, next } = await rowPage(runtime, { ...list, limit, after });
    const all = await Promise.all(rows.map(({ stream }) => getGrant(runtime, stream.id)));
    const isMeant = (one: StandingGrant) =>
      (status === "any" || one.status === status) && (tool === undefined || one.tool === tool);
    return { items: all.filter(isMeant), next };
  }),

  give: runVerb(async ({ runtime, how }, offer) => {
    const { forMs: lastsMs, total, amount, when = null, agent = null, ...terms } = offer;
    checkExpressions(offer, null);
    const schema = await schemaDigest(runtime, offer.tool);
    checkExpressions(offer, await argumentsSchema(runtime, schema));
    const id = freshId(runtime, "grt");
    const limit = total === undefined || amount === undefined ? null : { ...moneyToJson(total), amount };
    const asked = agent === null || agent.startsWith("agent:") ? agent : `agent:${agent}`;
    const given = { ...terms, schema, agent: asked, when, limit, lastsMs, grant: id, ...channelField(how) };
    const answer = await runCommand(runtime, {}, (draft) => giveGrant(draft, given));
    if (answer.kind === "not_allowed") throw notEligible(answer.reason);
    return getGrant(runtime, id);
  }),

  get: readVerb(async (runtime, { id }) => ({
    ...(await getGrant(runtime, id)),
    usedBy: await readUses(runtime, id),
  })),
  uses: readVerb(async (runtime, { id }) => readUses(runtime, (await getGrant(runtime, id)).id)),
  find: readVerb((runtime, { beginning }) => findIds(runtime, "grants", beginning)),
  revoke: decideVerb(
    (draft, { id, by, reason }, how) => revokeGrant(draft, { grant: id, by, reason, ...channelField(how) }),
    (runtime, decision, { id }) => {
      if (decision.kind === "unknown") throw unknownId(grants, id);
      if (decision.kind === "not_allowed") throw notEligible(decision.reason);
      return getGrant(runtime, id);
    },
  ),
});
