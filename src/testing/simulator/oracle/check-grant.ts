/** Invariants 19 and 20: what was permitted beforehand, and what people saw before they agreed. */
import type { Grant } from "../../../core/action/events.ts";
import type { GrantTerms, GrantUse } from "../../../grants/stream.ts";
import { mostIn } from "../beforehand-spec.ts";
import { count } from "../sim.ts";
import type { Args } from "../tool-spec.ts";
import {
  type Commit,
  type Event,
  expect,
  has,
  type SeenAction,
  type SeenApproval,
  type SeenGrant,
  text,
} from "./seen.ts";

type Standing = Extract<Grant, { kind: "standing" }>;
const NOT_APPLIED = ["effect.not_applied", "effect.resolved"];

const spentOf = ({ used }: SeenGrant): bigint => [...used.values()].reduce((sum, one) => sum + one, 0n);

function checkTerms(commit: Commit, event: Event, grant: SeenGrant, action: SeenAction): void {
  const { terms } = grant;
  const { amount } = action.args as unknown as Args;
  const holds = (right: boolean, why: string) =>
    expect(commit, right, "19", `${action.id} was let through by ${event.id}, ${why}`);
  holds(!grant.revoked, "which was revoked");
  holds(event.at < terms.expiresAt, "which was over");
  holds(grant.used.size <= terms.uses, "which was used up");
  holds(terms.limit === null || spentOf(grant) <= BigInt(terms.limit.micros), "whose total was used up");
  holds(terms.tool === action.tool && terms.schema === action.schema, "which is for another tool");
  holds(terms.agent === null || terms.agent === action.agent, "which is for another agent");
  holds(!action.requester.includes(terms.by), "which is the requester's own");
  holds(!commit.seen.suspended.has(terms.by), "whose owner is suspended");
  if (amount === undefined) return;
  holds(terms.when === null || amount <= mostIn(terms.when), "which does not cover its arguments");
}

function checkUse(commit: Commit, event: Event, grant: SeenGrant): void {
  const { action: id, effect, amount } = event.body as unknown as GrantUse;
  const action = commit.seen.actions.get(id);
  const start = has(commit, "effect.started", `action/${id}`);
  const permit = start?.body["grant"] as Grant | undefined;
  const isOwn = permit?.kind === "standing" && permit.grant === event.id && start?.body["effect"] === effect;
  expect(commit, isOwn, "19", `${event.id} was used without an effect that started by it`);
  expect(commit, !grant.used.has(effect), "19", `${effect} used ${event.id} twice`);
  grant.used.set(effect, BigInt(amount?.micros ?? 0));
  if (action === undefined) return;
  const { amount: units } = action.args as unknown as Args;
  const right =
    grant.terms.limit === null ||
    units === undefined ||
    BigInt(units) * 1_000_000n === grant.used.get(effect);
  expect(commit, right, "19", `${effect} is booked on ${event.id} with a wrong amount`);
  checkTerms(commit, event, grant, action);
}

function checkReturn(commit: Commit, event: Event, grant: SeenGrant): void {
  const { action, effect } = event.body as unknown as GrantUse;
  const outcome = commit.events.find(
    ({ type, stream }) => stream === `action/${action}` && NOT_APPLIED.includes(type),
  );
  const isCertain = outcome?.type === "effect.not_applied" || outcome?.body["status"] === "not_applied";
  expect(commit, isCertain, "19", `${effect} was given back to ${event.id} without certainty`);
  expect(commit, grant.used.delete(effect), "19", `${effect} was given back to ${event.id} and not used`);
}

export function checkGrant(commit: Commit, event: Event): void {
  const { grants, suspended } = commit.seen;
  if (event.type === "grant.given") {
    const terms = event.body as unknown as GrantTerms;
    expect(commit, !grants.has(event.id), "19", `${event.id} was given twice`);
    expect(commit, !suspended.has(terms.by), "19", `${event.id} was given by ${terms.by}, who is suspended`);
    grants.set(event.id, { terms, used: new Map(), revoked: false });
    return;
  }
  const grant = grants.get(event.id);
  if (grant === undefined) {
    expect(commit, false, "19", `${event.type} before ${event.id} was given`);
    return;
  }
  if (event.type === "grant.used") checkUse(commit, event, grant);
  else if (event.type === "grant.returned") checkReturn(commit, event, grant);
  else {
    expect(
      commit,
      !suspended.has(text(event.body["by"])),
      "19",
      `${event.id} was revoked by a suspended person`,
    );
    grant.revoked = true;
  }
}

/** A start by a grant is counted in its own commit. */
export function checkCounted(commit: Commit, event: Event, action: SeenAction): void {
  const { grant } = event.body["grant"] as Standing;
  const use = has(commit, "grant.used", `grant/${grant}`);
  expect(
    commit,
    use?.body["effect"] === event.body["effect"],
    "19",
    `${action.id} started by ${grant} and that was not counted`,
  );
  const owner = commit.seen.grants.get(grant)?.terms.by;
  const { by } = event.body["grant"] as Standing;
  expect(commit, by.join() === owner, "19", `${action.id} names ${by.join()} as the owner of ${grant}`);
}

/** At the end of a commit: uses that stand are of effects that did something, or may have. */
export function checkUses({ sim, seen }: Pick<Commit, "sim" | "seen">): void {
  for (const [id, { used }] of seen.grants)
    for (const effect of used.keys()) {
      const phase = seen.actions.get(effect.replace(/^eff_/, "act_"))?.phase;
      expect({ sim }, phase !== "not_applied", "19", `${id} still counts ${effect}, which did nothing`);
    }
}

/** What was shown to people is what the tool showed after they had agreed, just before the start. */
export function checkShown(commit: Commit, action: SeenAction, approval: SeenApproval): void {
  const { sim, life } = commit;
  const { preview } = approval.question;
  const isPreviewed = sim.scenario.beforehand.previewed.has(action.tool);
  expect(
    commit,
    isPreviewed === (preview !== undefined),
    "20",
    `${action.id} was asked about without its preview`,
  );
  if (preview === undefined) return;
  const last = sim.world.previews.get(`${life.number}/${action.id}`);
  const isFresh = last !== undefined && last.at >= approval.decidedAt;
  expect(commit, isFresh, "20", `${action.id} started and nobody looked at its preview again`);
  expect(commit, last?.digest === preview.digest, "20", `${action.id} started and its preview had moved`);
  count(sim, "preview held");
}
