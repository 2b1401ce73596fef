/** What the same agent had proposed with the same tool before something was asked, and how that stands now: as far as the latest say. */
import type { LiveAction } from "../../core/action/state.ts";
import { actionStream, streamName } from "../../core/stream.ts";
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

type Before = Pick<LiveAction, "agent" | "tool"> & { readonly action: string; readonly at: number };

/** Beside the action itself. `at` is when people were asked about it: what came after is not before it. */
export async function agentHistory(
  place: Place,
  { agent, tool, action, at: asked }: Before,
): Promise<AgentHistory> {
  const after = { at: asked, stream: streamName(actionStream(action)) };
  const query = { view: "actions", order: "newest", limit: SCANNED, after } as const;
  const rows = await place.store.query(place.tenant, query);
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
