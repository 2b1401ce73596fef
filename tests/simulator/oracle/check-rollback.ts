/**
 * Invariant 11 of workflows: only what was applied is undone, newest first, each once, and the report says what is left.
 * What has to be undone, and in which order, is read from the raw events.
 */

import type { RollbackReport } from "../../../src/workflows/events.ts";
import { count } from "../sim.ts";
import {
  type Commit,
  type Event,
  expect,
  has,
  type SeenCall,
  type SeenFlow,
  type SeenTenant,
  type SeenUndo,
  text,
} from "./seen.ts";

const MOST_TRIES = 5;

/** Given up on: undone, not wanted by people or policy, or tried as often as it is tried. */
function isDealtWith(seen: SeenTenant, undoes: string): boolean {
  const tries = seen.undos.get(undoes) ?? [];
  if (tries.some(({ status }) => status === "undone")) return true;
  if (tries.some(({ action }) => seen.actions.get(action)?.phase === "refused")) return true;
  return tries.filter(({ status }) => status === "not_undone").length >= MOST_TRIES;
}

function callsOfChild(seen: SeenTenant, id: string, scope: string): readonly SeenCall[] {
  const child = seen.flows.get(id);
  return child === undefined ? [] : callsAfter(seen, child, 0, scope);
}

/** Calls after an entry, oldest first; those of children stand where the child was spawned. */
function callsAfter(seen: SeenTenant, flow: SeenFlow, after: number, scope: string): readonly SeenCall[] {
  const own = flow.calls.filter(({ rollback }) => scope === "all" || rollback);
  const placed = own.map((call) => ({ seq: call.seq, calls: [call] as readonly SeenCall[] }));
  for (const { kind, seq, body } of flow.opened.values())
    if (kind === "child") placed.push({ seq, calls: callsOfChild(seen, String(body["child"]), scope) });
  return placed
    .filter(({ seq }) => seq > after)
    .sort((a, b) => a.seq - b.seq)
    .flatMap(({ calls }) => calls);
}

export function rollBackBegan({ sim }: Commit, event: Event, flow: SeenFlow): void {
  const { toSeq, scope, after, by, to } = event.body;
  flow.rollback = { toSeq: Number(toSeq), scope: text(scope), after: text(after) };
  flow.pending = null;
  if (by === "workflow") count(sim, "rolled back by itself");
  if (to !== null) count(sim, "rolled back to a checkpoint");
}

/** In the order in which their effects began. */
function rangeOf({ seen }: Commit, flow: SeenFlow): readonly SeenCall[] {
  const { rollback } = flow;
  if (rollback === null) return [];
  const began = ({ action }: SeenCall) => seen.actions.get(action)?.startedAt ?? 0;
  return [...callsAfter(seen, flow, rollback.toSeq, rollback.scope)].sort((a, b) => began(a) - began(b));
}

const AT_REST: readonly (string | undefined)[] = ["applied", "not_applied", "refused"];

/** How the author of the tool meant it to be undone. */
function undoOf(commit: Commit, tool: string): "tool" | "nothing" | "none" {
  const { undos, steps } = commit.sim.scenario.flows;
  const known = undos.get(tool)?.kind;
  if (known !== undefined) return known;
  return steps.some(({ spec }) => spec.name === `${tool}.undo`) ? "tool" : "none";
}

/** A compensation begins. */
export function checkUndo(commit: Commit, event: Event, flow: SeenFlow): void {
  const { seen } = commit;
  const action = text(event.body["action"]);
  const undoes = text(event.body["undoes"]);
  const range = rangeOf(commit, flow);
  const at = range.findIndex((call) => call.action === undoes);
  const fails = (what: string) => expect(commit, false, "I11", `${undoes} is undone (${action}) ${what}`);
  if (at < 0) fails("and is not in the range");
  const phase = seen.actions.get(undoes)?.phase;
  if (phase !== "applied") fails(`and is ${phase}`);
  for (const call of range) {
    const other = seen.actions.get(call.action)?.phase;
    if (!AT_REST.includes(other)) fails(`while ${call.action} is ${other}`);
  }
  const own = seen.actions.get(undoes)?.startedAt ?? 0;
  range.forEach((call, index) => {
    const other = seen.actions.get(call.action);
    const began = other?.startedAt ?? 0;
    const isNewer = other?.phase === "applied" && (began > own || (began === own && index > at));
    if (isNewer && undoOf(commit, call.tool) === "tool" && !isDealtWith(seen, call.action))
      fails(`before ${call.action}, which began after it`);
  });
  const tries = seen.undos.get(undoes) ?? [];
  // A child's question about it was withdrawn when its parent went back.
  const isWithdrawn = (one: SeenUndo) => seen.actions.get(one.action)?.phase === "refused";
  if (tries.some((one) => one.status !== "not_undone" && !isWithdrawn(one))) fails("a second time");
  seen.undos.set(undoes, [...tries, { action, status: "open" }]);
  if (tries.length > 0) count(commit.sim, "compensation tried again");
}

export function checkUndone(commit: Commit, event: Event): void {
  const { action, undoes, status } = event.body;
  const undo = commit.seen.undos.get(text(undoes))?.find((one) => one.action === action);
  expect(commit, undo?.status === "open", "I11", `${text(action)} settled and was not open`);
  const phase = commit.seen.actions.get(text(action))?.phase;
  const fits = status === "undone" ? phase === "applied" : phase === "not_applied" || phase === "refused";
  expect(commit, fits, "I11", `${text(action)} is said to be ${text(status)} and is ${phase}`);
  if (undo !== undefined) undo.status = status === "undone" ? "undone" : "not_undone";
}

function checkReport(commit: Commit, flow: SeenFlow, report: RollbackReport): void {
  const { seen } = commit;
  const undone = new Set(report.undone);
  const left = new Set([...report.notUndone, ...report.irreversible].map(({ action }) => action));
  for (const { action, tool } of rangeOf(commit, flow)) {
    const phase = seen.actions.get(action)?.phase;
    expect(commit, AT_REST.includes(phase), "I11", `${flow.id} was rolled back while ${action} is ${phase}`);
    if (phase !== "applied" || undoOf(commit, tool) === "nothing") continue;
    expect(
      commit,
      undone.has(action) !== left.has(action),
      "I11",
      `the report of ${flow.id} leaves out ${action}`,
    );
    const isUndone = (seen.undos.get(action) ?? []).some(({ status }) => status === "undone");
    expect(
      commit,
      undone.has(action) === isUndone,
      "I11",
      `the report of ${flow.id} is wrong about ${action}`,
    );
  }
}

/** The end of the way back: another attempt only if that was meant and nothing is left behind; else it has failed. */
export function rollBackEnded(commit: Commit, event: Event, flow: SeenFlow): void {
  const report = event.body as unknown as RollbackReport;
  checkReport(commit, flow, report);
  if (report.notUndone.length > 0) count(commit.sim, "not everything undone");
  if (report.irreversible.length > 0) count(commit.sim, "something irreversible");
  if (report.undone.length > 1) count(commit.sim, "several effects undone");
  const isClean =
    report.notUndone.length === 0 && (report.irreversible.length === 0 || flow.onIrreversible === "continue");
  const goesOn = isClean && flow.rollback?.after === "again";
  const after = event.body["after"];
  expect(
    commit,
    after === (goesOn ? "again" : "fail"),
    "I11",
    `${flow.id} is to ${text(after)} after its rollback`,
  );
  if (after === "again") startAgain(commit, event, flow);
  else
    expect(
      commit,
      has(commit, "workflow.failed", event.stream) !== undefined,
      "I11",
      `${flow.id} did not fail`,
    );
}

/** Everything after the checkpoint is as if it had never been. */
function startAgain(commit: Commit, event: Event, flow: SeenFlow): void {
  const toSeq = flow.rollback?.toSeq ?? 0;
  const generation = Number(event.body["generation"]);
  expect(commit, generation === flow.generation + 1, "W", `${flow.id} is of generation ${generation}`);
  const heard = flow.settled.get(flow.generation) ?? [];
  flow.generation = generation;
  for (const { action } of rangeOf(commit, flow)) flow.gone.add(action);
  flow.calls = flow.calls.filter(({ seq }) => seq <= toSeq);
  flow.opened = new Map([...flow.opened].filter(([, { seq }]) => seq <= toSeq));
  // What began before the checkpoint and was answered after it stays answered.
  flow.settled.set(
    generation,
    heard.filter(({ key }) => flow.opened.has(key)),
  );
  flow.rollback = null;
}
