/** What the same agent has done with the same tool, as far as the latest actions say. */
import type { LiveAction } from "../../core/action/state.ts";
import { actionStream } from "../../core/stream.ts";
import type { ViewRow } from "../../stores/store.ts";
import { unlessLeftAlone } from "../left-alone.ts";
import type { Runtime } from "../runtime.ts";

export type Past = {
  readonly action: string;
  readonly approval: string | null;
  readonly phase: string;
  readonly at: number;
  /** The beginning of its arguments. */
  readonly args: string;
};

export type AgentHistory = {
  readonly agent: string;
  readonly tool: string;
  readonly total: number;
  readonly applied: number;
  readonly refused: number;
  readonly inDoubt: number;
  /** Nothing older was left out. */
  readonly isAll: boolean;
  readonly latest: readonly Past[];
};

const SCANNED = 500;
const LATEST = 5;

type Place = Pick<Runtime, "store" | "tenant">;

function approvalOf(state: LiveAction): string | null {
  if (state.phase === "waiting" || state.phase === "refused") return state.approval;
  if (!("effect" in state)) return null;
  const { grant } = state.effect;
  return grant.kind === "approval" ? grant.approval : null;
}

async function approvalsOf({ store, tenant }: Place, rows: readonly ViewRow[]) {
  const read = rows.map(({ stream }) => actionStream(stream.id));
  return store.transact(tenant, { read }, (sight) => {
    const states = read.map((ref) => sight.state(ref));
    const result = states.map((state) => (state.phase === "none" ? null : approvalOf(state)));
    return { kind: "commit", append: [], result };
  });
}

/** Beside the action itself. */
export async function agentHistory(
  place: Place,
  { agent, tool, action }: Pick<LiveAction, "agent" | "tool"> & { readonly action: string },
): Promise<AgentHistory> {
  const rows = await place.store.query(place.tenant, { view: "actions", order: "newest", limit: SCANNED });
  const own = rows.filter(
    ({ stream, data }) => data["agent"] === agent && data["tool"] === tool && stream.id !== action,
  );
  const count = (phase: LiveAction["phase"]) => own.filter(({ bucket }) => bucket === phase).length;
  const shown = own.slice(0, LATEST);
  const approvals = (await unlessLeftAlone(approvalsOf(place, shown))) ?? [];
  const latest = shown.map(({ stream, bucket, at, data }, index) => ({
    ...{ action: stream.id, approval: approvals[index] ?? null, phase: bucket, at },
    args: String(data["args"] ?? ""),
  }));
  return {
    ...{ agent, tool, total: own.length, latest, isAll: rows.length < SCANNED },
    ...{ applied: count("applied"), refused: count("refused"), inDoubt: count("in_doubt") },
  };
}
