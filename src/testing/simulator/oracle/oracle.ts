/**
 * Watches every commit, send and answer. It reads raw events and the world; it never calls the rules it checks.
 */

import type { Json } from "../../../core/json.ts";
import { streamName } from "../../../core/stream.ts";
import type { Answer } from "../../../engine/answer.ts";
import type { Ballot } from "../../../engine/vote.ts";
import type { ViewRow } from "../../../stores/store.ts";
import { count, type Life, type Sim } from "../sim.ts";
import type { ToolSpec } from "../tool-spec.ts";
import type { Send } from "../world.ts";
import { checkAction } from "./check-action.ts";
import { type Acknowledged, checkAnswer, checkVoted, type Voted } from "./check-answer.ts";
import { checkApproval, checkQuorum } from "./check-approval.ts";
import { checkBudget, checkReservations } from "./check-budget.ts";
import { readEntry } from "./check-chain.ts";
import { checkBooks, checkLiveness } from "./check-end.ts";
import { checkEpoch, checkRoster, checkSwitch } from "./check-standing.ts";
import { checkTampering, checkWhole } from "./check-whole.ts";
import { checkApplied, checkSent } from "./check-world.ts";
import { type Commit, type Event, emptyTenant, expect, type SeenTenant } from "./seen.ts";

export type Oracle = {
  /** Looks at what was committed since it looked last; `life` committed it. */
  observe(life: Life): void;
  asked(life: Life, tenant: string): void;
  listed(tenant: string, rows: readonly ViewRow[]): void;
  sent(life: Life, spec: ToolSpec, send: Send): void;
  applied(spec: ToolSpec, send: Send): void;
  answered(tenant: string, requestId: string | null, answer: Answer<Json>): "again" | "done";
  voted(tenant: string, ballot: Ballot, answer: Voted): void;
  acknowledged(tenant: string, what: Acknowledged): void;
  /** Whether a request id names an action already. */
  knows(tenant: string, requestId: string | null): boolean;
  bindingOf(tenant: string, approval: string): string | undefined;
  isSuspended(tenant: string, person: string): boolean;
  /** The whole, which costs more. */
  whole(): void;
  end(): void;
  readonly tenants: ReadonlyMap<string, SeenTenant>;
};

const WHOLE_EVERY_COMMITS = 100;

const CHECKS: { readonly [kind: string]: (commit: Commit, event: Event) => void } = {
  action: checkAction,
  approval: checkApproval,
  budget: checkBudget,
  switch: checkSwitch,
  roster: checkRoster,
  epoch: checkEpoch,
};

function checkCommit(commit: Commit): void {
  for (const event of commit.events) {
    count(commit.sim, event.type);
    const at = event.body["by"] === undefined ? "" : ` by ${String(event.body["by"])}`;
    commit.sim.trace?.(`${event.tenant} ${event.stream} ${event.seq} ${event.type}${at}`);
    CHECKS[event.stream.slice(0, event.stream.indexOf("/"))]?.(commit, event);
  }
  for (const event of commit.events) if (event.type === "approval.voted") checkQuorum(commit, event);
  checkReservations(commit);
}

export function createOracle(sim: Sim): Oracle {
  const tenants = new Map<string, SeenTenant>();
  const votes = new Set<string>();
  const facts = new Set<string>();
  let commits = 0;

  const seenOf = (tenant: string): SeenTenant => {
    const seen = tenants.get(tenant) ?? emptyTenant(tenant);
    tenants.set(tenant, seen);
    return seen;
  };

  function remember({ type, id, body }: Event): void {
    if (type === "approval.voted") votes.add([id, body["by"], body["decision"], body["binding"]].join("/"));
    if (type.startsWith("switch.")) facts.add(`${type} ${id}`);
    if (type.startsWith("person.")) facts.add(`${type} ${String(body["person"])}`);
  }

  return {
    tenants,
    observe(life) {
      for (const [tenant, kept] of sim.database.data.tenants) {
        const seen = seenOf(tenant);
        if (kept.log.length === seen.logged) continue;
        const fresh = kept.log.slice(seen.logged);
        seen.logged = kept.log.length;
        expect({ sim }, life.tenant === tenant, "13", `a process of ${life.tenant} wrote to ${tenant}`);
        const events = fresh.map((entry) => readEntry(sim, seen, entry));
        for (const event of events) remember(event);
        checkCommit({ sim, seen, life, events });
        if (++commits % WHOLE_EVERY_COMMITS === 0) checkWhole(sim);
      }
    },
    asked: (life, tenant) =>
      expect({ sim }, life.tenant === tenant, "13", `a process of ${life.tenant} asked about ${tenant}`),
    listed(tenant, rows) {
      const { heads } = seenOf(tenant);
      for (const { stream } of rows)
        expect(
          { sim },
          heads.has(streamName(stream)),
          "13",
          `a list of ${tenant} shows ${stream.id} of another`,
        );
    },
    sent: (life, spec, send) => checkSent(sim, seenOf(life.tenant), { spec, send, life }),
    applied(spec, send) {
      const tenant = sim.lives[send.life]?.tenant ?? "";
      checkApplied(sim, seenOf(tenant), spec, send);
    },
    answered: (tenant, requestId, answer) => checkAnswer(sim, seenOf(tenant), requestId, answer),
    voted: (_tenant, ballot, answer) => checkVoted(sim, votes, ballot, answer),
    acknowledged(_tenant, what) {
      const fact =
        what.kind === "switch"
          ? `switch.${what.stop ? "stopped" : "released"} ${what.scope}`
          : `person.${what.suspend ? "suspended" : "reinstated"} ${what.person}`;
      const trivial = what.kind === "switch" ? !what.stop : !what.suspend;
      expect({ sim }, trivial || facts.has(fact), "9", `${fact} was acknowledged and is lost`);
    },
    knows: (tenant, requestId) => requestId !== null && seenOf(tenant).requests.has(requestId),
    bindingOf: (tenant, approval) => seenOf(tenant).approvals.get(approval)?.question.binding,
    isSuspended: (tenant, person) => seenOf(tenant).suspended.has(person),
    whole: () => checkWhole(sim),
    end() {
      checkWhole(sim);
      checkTampering(sim);
      for (const seen of tenants.values()) {
        checkLiveness(sim, seen);
        checkBooks(sim, seen);
        checkReservations({ sim, seen });
      }
    },
  };
}
