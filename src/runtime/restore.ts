/**
 * A restored or copied store: its status, and a person's acknowledgement, which accepts it as it is. The last step
 * gives the history a new name and home. Until then every step can be repeated, and nothing executes.
 */

import { actionRows } from "../effects/actions.ts";
import { settleAfterRestore } from "../effects/rules/outcome.ts";
import { revokeGrant } from "../grants/rules.ts";
import { readSealPayload } from "../journal/seal.ts";
import { recordRestore } from "../journal/stream.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { checkFields } from "../kernel/fields.ts";
import { isPerson, isPrincipal } from "../kernel/principal.ts";
import { actionStream, epochStream, grantStream, STORE_HISTORY } from "../kernel/stream.ts";
import { displayValue } from "../kernel/text.ts";
import { cancelById } from "../workflows/operate.ts";
import type { WorkflowStatus } from "../workflows/state.ts";
import { readHome } from "./restore-guard.ts";
import type { Runtime } from "./runtime.ts";
import { runCommand } from "./store-access.ts";
import { endEpoch } from "./stream.ts";
import { logEntries, logPages } from "./subscribe.ts";

/** Who takes a restored store on as it is, and why. */
export type RestoreStatement = { readonly by: string; readonly reason: string };

function checkStatement({ by, reason }: RestoreStatement): void {
  if (!isPrincipal(by) || !isPerson(by))
    throw new HoldpointError("invalid_input", `"${displayValue(by)}" is not a person: write person:<name>.`);
  const isText = typeof reason === "string" && reason.trim() !== "" && reason.isWellFormed();
  if (!isText || reason.length > 10_000)
    throw new HoldpointError("invalid_input", "A reason of at most 10000 characters is needed.");
}

type CommandStore = Pick<Runtime, "store" | "tenant" | "clock">;
type SealPoint = { readonly n: number; readonly at: number };

export type Restored = {
  /** Evidence that the store was restored or copied; null if there is none. */
  readonly why: string | null;
  readonly incarnation: string;
  readonly lastEntryAt: number | null;
  readonly lastSeal: SealPoint | null;
  /** The last seal that this machine saw, and when. */
  readonly witness: SealPoint | null;
  /** Counts of open work. `approved`: approvals granted and not used yet. */
  readonly open: { readonly [kind in "running" | "approved" | "open" | "waiting"]: number };
};

async function countOpen({ store, tenant }: CommandStore): Promise<Restored["open"]> {
  const actions = (phase: string) => store.count(tenant, "actions", phase);
  const approvals = (status: string) => store.count(tenant, "approvals", status);
  return {
    running: await actions("running"),
    approved: (await approvals("approved")) + (await approvals("modified")),
    open: await actions("open"),
    waiting: await approvals("pending"),
  };
}

/** Null if the last commit was another tenant's. */
async function lastEntryAt(place: CommandStore): Promise<number | null> {
  let last: number | null = null;
  for await (const { at } of logEntries(place, (await place.store.position()) - 1)) last = at;
  return last;
}

export async function getRestoreStatus(runtime: Runtime): Promise<Restored> {
  const { store, tenant } = runtime;
  const { incarnation } = await readHome(store);
  const last = await store.sealOver(tenant, "last");
  const sealed = last === undefined ? undefined : readSealPayload(last.jws);
  const saw = runtime.history.lastSeen(incarnation);
  return {
    why: (await runtime.history.suspicion("store")) ?? null,
    incarnation,
    lastEntryAt: await lastEntryAt(runtime),
    lastSeal: sealed === undefined ? null : { n: sealed.n, at: sealed.at },
    witness: saw === undefined ? null : { n: saw.n, at: saw.at },
    open: await countOpen(runtime),
  };
}

/** Counts: epochs and workflows ended, effects in doubt, actions refused, approvals pending, grants revoked. */
export type Acknowledged = { readonly incarnation: string } & Readonly<EndedCounts>;
type EndedCounts = {
  epochs: number;
  workflows: number;
  inDoubt: number;
  refused: number;
  waiting: number;
  grants: number;
};

async function openEpochs(place: CommandStore): Promise<readonly string[]> {
  const open = new Set<string>();
  for await (const page of logPages(place))
    for (const { stream, type } of page) {
      if (!type.startsWith("epoch.")) continue;
      const id = stream.slice("epoch/".length);
      if (type === "epoch.opened") open.add(id);
      else if (stream.startsWith("epoch/")) open.delete(id);
    }
  return [...open];
}

/** A process that still runs under one of them finds that it has ended. */
async function endEpochs(place: CommandStore, by: string, counts: EndedCounts): Promise<void> {
  for (const id of await openEpochs(place)) {
    const ref = epochStream(id);
    const events = await runCommand(place, { write: [ref] }, (draft) => {
      const ending = endEpoch(draft.state(ref), "died", by);
      draft.append(ref, ending);
      return ending;
    });
    counts.epochs += events.length;
  }
}

/** All but those that wait at a checkpoint, where a person decides whether they continue. */
const GOING_ON: readonly WorkflowStatus[] = ["initialized", "executing", "rolling_back", "settling"];
const WORKFLOWS_AT_ONCE = 200;
const GRANTS_AT_ONCE = 200;

/** A workflow would resume from the state of the backup, and repeat what it did since. */
async function endWorkflows(runtime: Runtime, by: string, counts: EndedCounts): Promise<void> {
  const reason = "the store was restored, and it may have gone on since the backup";
  const { store, tenant } = runtime;
  for (const bucket of GOING_ON)
    for (;;) {
      const rows = await store.query(tenant, { view: "workflows", bucket, limit: WORKFLOWS_AT_ONCE });
      for (const { stream } of rows) await cancelById(runtime, stream.id, { by, reason });
      counts.workflows += rows.length;
      if (rows.length < WORKFLOWS_AT_ONCE) break;
    }
}

async function endActions(place: CommandStore, counts: EndedCounts): Promise<void> {
  for (const phase of ["running", "open", "waiting"] as const)
    for (const { stream } of await actionRows(place, phase)) {
      const needs = { write: [actionStream(stream.id)] };
      const { kind } = await runCommand(place, needs, (draft) => settleAfterRestore(draft, stream.id));
      if (kind === "in_doubt") counts.inDoubt++;
      if (kind === "refused") counts.refused++;
      if (kind === "asks") counts.waiting++;
    }
}

const USED_SINCE = "the store was restored, and it may have been used since the backup";

async function endGrantsIn(place: CommandStore, bucket: string, counts: EndedCounts): Promise<void> {
  const query = { view: "grants", bucket, limit: GRANTS_AT_ONCE };
  for (;;) {
    const rows = await place.store.query(place.tenant, query);
    for (const { stream } of rows) {
      const needs = { write: [grantStream(stream.id)] };
      const command = { grant: stream.id, by: "restore", reason: USED_SINCE };
      const { kind } = await runCommand(place, needs, (draft) => revokeGrant(draft, command, true));
      if (kind === "revoked") counts.grants++;
    }
    if (rows.length < GRANTS_AT_ONCE) return;
  }
}

/** Uses since the backup are unknown. A used-up grant may get a use back that was used again since. */
async function endGrants(place: CommandStore, counts: EndedCounts): Promise<void> {
  for (const bucket of ["active", "used_up"]) await endGrantsIn(place, bucket, counts);
}

function notRestored(): HoldpointError {
  return new HoldpointError("wrong_state", "Nothing tells that this store was restored or copied.", {
    next: "If you know that it was, say so: `--anyway` on the command line, `anyway: true` in a program.",
  });
}

export async function acknowledgeRestore(
  runtime: Runtime,
  said: RestoreStatement & { readonly anyway?: boolean },
): Promise<Acknowledged> {
  const { by, reason, anyway } = checkFields("What is said", said, ["by", "reason", "anyway"]);
  checkStatement({ by, reason });
  const { store } = runtime;
  const why = await runtime.history.suspicion("store");
  if (why === undefined && anyway !== true) throw notRestored();
  const incarnation = Buffer.from(runtime.random(16)).toString("hex");
  const fact = { by, reason, seen: why ?? "a person knows it", incarnation };
  const counts: EndedCounts = { epochs: 0, workflows: 0, inDoubt: 0, refused: 0, waiting: 0, grants: 0 };
  for (const tenant of await store.tenants()) {
    const place = { ...runtime, tenant };
    await runCommand(place, { write: [STORE_HISTORY] }, (draft) =>
      draft.append(STORE_HISTORY, recordRestore(fact)),
    );
    await endEpochs(place, by, counts);
    await endWorkflows(place, by, counts);
    await endActions(place, counts);
    await endGrants(place, counts);
  }
  await store.home?.note((await readHome(store)).found, incarnation);
  return { incarnation, ...counts };
}
