/**
 * Setting, reading and listing kill switches, and validation of that input.
 * - Any caller may stop. Only a person in good standing may release. A closed tenant is never released.
 * - A short cache of "all switches were off" saves workflow steps, which are not effects, another check.
 * - Effects never use the cache: they check in the commit that starts them.
 */

import { type Clock, stopwatch } from "../kernel/clock.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { checkFields, isPlainObject, rejectInput } from "../kernel/fields.ts";
import { isId } from "../kernel/ids.ts";
import { channelField, isPrincipal, type Via } from "../kernel/principal.ts";
import { checkSaid, type Said, STATEMENT, STATEMENT_FIELDS } from "../kernel/said.ts";
import { agentScope, ROSTER, switchStream, workflowStream } from "../kernel/stream.ts";
import { displayValue } from "../kernel/text.ts";
import type { Draft, Need } from "../kernel/transaction.ts";
import { readOwnTenant } from "../people/tenants/stream.ts";
import { rowPage } from "../runtime/lists.ts";
import type { Runtime, RuntimeOpener } from "../runtime/runtime.ts";
import { readState, runCommand } from "../runtime/store-access.ts";
import type { Store, TenantStore, ViewRow } from "../stores/store.ts";
import { decideSwitch, parseSwitchScope, type Stoppable, type Stopped, switchScopeOf } from "./stream.ts";

/** A bare name or a principal. undefined: the whole tenant. */
function checkAgent(agent: unknown): void {
  if (agent === undefined) return;
  const isOther = typeof agent === "string" && /^(person|service):/.test(agent);
  if (typeof agent !== "string" || isOther || !isPrincipal(agentScope(agent)))
    rejectInput(`"${displayValue(agent)}" is not an agent's name.`);
}

/** Target of the kill switch: one agent or service, one workflow, or the whole tenant. */
function checkStoppable(given: unknown): Stoppable {
  if (!isPlainObject(given))
    return rejectInput("The switch is of an agent, { agent }, or of a workflow, { workflow }.");
  const { agent, workflow } = given as { readonly agent?: unknown; readonly workflow?: unknown };
  if (agent !== undefined && workflow !== undefined)
    rejectInput("The switch is of an agent or of a workflow: one of them, not both.");
  if (workflow !== undefined)
    return isId("wf", workflow)
      ? { workflow }
      : rejectInput(`"${displayValue(workflow)}" is not a workflow's id: wf_….`);
  if (!(typeof agent === "string" && agent.startsWith("service:") && isPrincipal(agent))) checkAgent(agent);
  return agent === undefined ? {} : { agent: agent as string };
}

const FRESH_MS = 250;
const MOST_KEPT = 1_000;

/** `whose`: cache key made of the agent and the workflow that were checked. */
type SwitchCheckTarget = { readonly store: Store; readonly whose: string; readonly clock: Clock };
type Ages = Map<string, () => number>;

const recentChecks = new WeakMap<Store, Ages>();

export function wereOffRecently({ store, whose }: Pick<SwitchCheckTarget, "store" | "whose">): boolean {
  const age = recentChecks.get(store)?.get(whose);
  return age !== undefined && age() < FRESH_MS;
}

/** Call before a check, and the returned function if all were off. A switch set meanwhile by this process voids it. */
export function beginSwitchCheck({ store, whose, clock }: SwitchCheckTarget): () => void {
  const ages = recentChecks.get(store) ?? new Map<string, () => number>();
  recentChecks.set(store, ages);
  const age = stopwatch(clock);
  return () => {
    if (recentChecks.get(store) !== ages) return;
    // Workflows come and go and entries expire quickly, so dropping all of them costs little.
    if (ages.size >= MOST_KEPT) ages.clear();
    ages.set(whose, age);
  };
}

export function forgetSwitchChecks(store: Store): void {
  recentChecks.delete(store);
}

type CommandStore = Pick<Runtime, "store" | "tenant" | "clock">;

const tenantClosed = ({ tenant }: CommandStore): HoldpointError =>
  new HoldpointError("tenant_closed", `The tenant ${tenant} was closed: it is not released again.`);

const noWorkflow = (workflow: string): HoldpointError =>
  new HoldpointError("unknown_id", `There is no workflow ${displayValue(workflow)}.`, {
    next: "Check the id; `holdpoint workflows` lists them.",
  });

/** Any caller may stop; only a person in good standing may release. */
function checkReleaser(draft: Draft, by: string): Need | undefined {
  const more = draft.need({ read: [ROSTER] });
  if (more !== undefined || !draft.state(ROSTER).suspended.includes(by)) return more;
  throw new HoldpointError("not_eligible", `Nothing was released: ${by} is not in good standing.`, {
    data: "The kill switch is as it was.",
    next: "Ask a person in good standing.",
  });
}

/** A switch for an unknown name would stop nothing. Unknown workflows are detectable; unknown agents are not. */
function checkKnown(draft: Draft, workflow: string | undefined): Need | undefined {
  if (workflow === undefined) return undefined;
  const ref = workflowStream(workflow);
  const more = draft.need({ read: [ref] });
  if (more !== undefined) return more;
  if (draft.state(ref).status === "none") throw noWorkflow(workflow);
  return undefined;
}

/**
 * Stops (or releases) all new effects of one agent or service, one workflow with its children, or the whole tenant.
 * Returns whether anything changed.
 */
export async function setSwitch(
  place: CommandStore,
  stop: boolean,
  command: Said & Via & Stoppable,
): Promise<boolean> {
  checkSaid(command);
  const ref = switchStream(switchScopeOf(checkStoppable(command)));
  const { by, reason, workflow } = command;
  try {
    return await runCommand(place, { write: [ref], read: [readOwnTenant(place)] }, (draft) => {
      if (!stop && draft.state(readOwnTenant(place)).status === "closed") throw tenantClosed(place);
      const more = checkKnown(draft, workflow) ?? (stop ? undefined : checkReleaser(draft, by));
      if (more !== undefined) return more;
      const events = decideSwitch(draft.state(ref), { stop, by, reason, ...channelField(command) });
      draft.append(ref, events);
      return events.length > 0;
    });
  } finally {
    forgetSwitchChecks(place.store);
  }
}

/** For users: `stopped`, the word of the journal, is called `paused`. */
export type KillSwitchState =
  | { readonly paused: false }
  | { readonly paused: true; readonly by: string; readonly reason: string; readonly at: number };

/** Whether new effects of the tenant, or of one agent, service or workflow, are paused, by whom and why. */
export async function getSwitch(
  place: CommandStore,
  whose: string | Stoppable = {},
): Promise<KillSwitchState> {
  const given = typeof whose === "string" ? { agent: whose } : whose;
  const named = checkStoppable(checkFields("The switch", given, ["agent", "workflow"]));
  const { workflow } = named;
  if (workflow !== undefined && (await readState(place, workflowStream(workflow))).status === "none")
    throw noWorkflow(workflow);
  const { stopped: paused, ...facts } = await readState(place, switchStream(switchScopeOf(named)));
  return structuredClone({ paused, ...facts }) as KillSwitchState;
}

export type ActiveStop = {
  readonly whose: Stopped;
  readonly by: string;
  readonly reason: string;
  readonly at: number;
};
type StopPage = { readonly limit?: number; readonly after?: string };
type StopList = { readonly items: readonly ActiveStop[]; readonly next: string | null };

const isScope = (id: unknown): boolean => typeof id === "string" && id !== "";
const LIST = { view: "switches", kind: "switch", isName: isScope, order: "newest" } as const;

const stopOf = ({ stream, at, data }: ViewRow): ActiveStop => ({
  whose: parseSwitchScope(stream.id),
  by: String(data["by"]),
  reason: String(data["reason"]),
  at,
});

/** Newest first. */
export async function listStops(place: TenantStore, page: StopPage = {}): Promise<StopList> {
  const { limit = 100, after } = checkFields("A page of stops", page, ["limit", "after"]);
  const { rows, next } = await rowPage(place, { ...LIST, limit, after });
  return { items: rows.map(stopOf), next };
}

/** Counts stops of single agents, services and workflows. The tenant's own switch is not included. */
export async function countStops({ store, tenant }: TenantStore): Promise<number> {
  const [agents, workflows] = await Promise.all([
    store.count(tenant, "switches", "agent"),
    store.count(tenant, "switches", "workflow"),
  ]);
  return agents + workflows;
}

export type KillSwitch = {
  /** Pauses all new effects of the tenant, one agent or service, or one workflow. Returns whether anything changed. */
  pause(said: Said & Stoppable): Promise<boolean>;
  resume(said: Said & Stoppable): Promise<boolean>;
  /** Whether the tenant, or one agent, service or workflow, is paused, by whom, when and why. */
  paused(whose?: string | Stoppable): Promise<KillSwitchState>;
};

const SWITCH_FIELDS = [...STATEMENT_FIELDS, "agent", "workflow"];

export function killSwitchOf(open: RuntimeOpener): KillSwitch {
  return {
    pause: async (said) => setSwitch(await open(), true, checkFields(STATEMENT, said, SWITCH_FIELDS)),
    resume: async (said) => setSwitch(await open(), false, checkFields(STATEMENT, said, SWITCH_FIELDS)),
    paused: async (whose) => getSwitch(await open(), whose),
  };
}
