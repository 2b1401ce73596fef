/**
 * What has to be true of every workflow in the end, whatever was killed meanwhile.
 *
 * Z1. Its final state and its result are those of a workflow that nobody disturbed.
 * Z2. The receiver applied every effect once and every compensation once, compensations newest first, in the order of the
 *     definition.
 * Z3. Nothing of the second attempt was answered with an effect that had been undone.
 * Z4. Nothing is left open: no action, no approval, no run.
 */
import { isDeepStrictEqual } from "node:util";
import type { ActionState } from "../../../src/effects/state.ts";
import type { JsonObject } from "../../../src/kernel/json.ts";
import type { LiveWorkflow } from "../../../src/workflows/state.ts";
import type { Received } from "../effects.ts";
import type { Happened, Watch } from "./watch.ts";

const actionOf = (key: string): string => key.replace(/^eff_/, "act_");

/** Applications by workflow, in the order of the receiver's log. */
export function appliedBy(watch: Pick<Watch, "actions">, received: readonly Received[]) {
  const lines = received.filter(({ outcome }) => outcome === "applied");
  return Map.groupBy(lines, ({ key }) => {
    const state = watch.actions.get(actionOf(key));
    return state === undefined || state.phase === "none" ? "" : (state.within?.workflow ?? "");
  });
}

const PAIR = ["site.deploy", "release.record"] as const;
const RANGE: readonly string[] = [...PAIR, "card.pay"];
const BEFORE = ["hall.reserve", "crew.hire", "files.put"];

const madeIn = (history: readonly Happened[], generation: number): readonly JsonObject[] =>
  history
    .filter(
      ({ type, body }) => type === "call.made" && Number(String(body["op"]).split("/")[1]) === generation,
    )
    .map(({ body }) => body);

/** Of the first attempt, what had been applied since the second checkpoint, newest first. */
function toUndo(history: readonly Happened[], isApplied: (action: string) => boolean): readonly JsonObject[] {
  return madeIn(history, 1)
    .filter(({ tool, action }) => RANGE.includes(String(tool)) && isApplied(String(action)))
    .toReversed();
}

/** Two branches side by side may reach the receiver in either order. */
function inFixedOrder(tools: readonly string[]): readonly string[] {
  const fixed = [...tools];
  for (const [at, name] of tools.entries()) {
    const next = tools[at + 1];
    if (name === PAIR[1] && next === PAIR[0]) fixed.splice(at, 2, PAIR[0], PAIR[1]);
  }
  return fixed;
}

function checkEffects(undo: readonly JsonObject[], lines: readonly Received[]): readonly string[] {
  const undos = undo.map(({ tool }) => `${String(tool)}.undo`);
  const expected = [...BEFORE, ...RANGE, ...undos, ...RANGE, "site.publish"];
  const applied = inFixedOrder(lines.map(({ tool }) => tool));
  return isDeepStrictEqual(applied, expected)
    ? []
    : [`the receiver applied ${applied.join(", ")} and should have applied ${expected.join(", ")}`];
}

function checkRollback(undo: readonly JsonObject[], history: readonly Happened[]): readonly string[] {
  const expected = undo.map(({ action }) => action);
  const settled = history.filter(
    ({ type, body }) => type === "compensation.settled" && body["status"] === "undone",
  );
  const undone = settled.map(({ body }) => body["undoes"]);
  const ends = history.filter(({ type }) => type === "rollback.ended").map(({ body }) => body["undone"]);
  const wrong: string[] = [];
  if (!isDeepStrictEqual(undone, expected))
    wrong.push(`undone were ${undone.join()}, not ${expected.join()}`);
  if (!isDeepStrictEqual(ends, [expected])) wrong.push(`its rollback says ${JSON.stringify(ends)}`);
  return wrong;
}

function checkSecondAttempt(undo: readonly JsonObject[], history: readonly Happened[]): readonly string[] {
  const undone = new Set(undo.map(({ action }) => action));
  const rolledBack = history.findIndex(({ type }) => type === "rollback.ended");
  return history
    .slice(rolledBack + 1)
    .filter(({ type, body }) => type === "call.settled" && undone.has(String(body["action"])))
    .map(({ body }) => `${String(body["op"])} was answered with ${String(body["action"])}, which was undone`);
}

/** Without what differs from one workflow to the next. */
function comparable(state: LiveWorkflow): object {
  const { status, generation, pending, passed, lastDecision, rollback, rolledBack, end } = state;
  const { runner, isReady, wakeAt, waits } = state;
  return {
    ...{ status, generation, pending, rollback, runner, isReady, wakeAt, waits },
    passed: passed.map(({ name }) => name),
    lastDecision: [lastDecision?.checkpoint, lastDecision?.decision, lastDecision?.by, lastDecision?.reason],
    rolledBack: [rolledBack?.by, rolledBack?.reason, rolledBack?.after, rolledBack?.undone.length],
    left: [rolledBack?.notUndone, rolledBack?.irreversible],
    result: end?.status === "completed" ? { ...(end.result as object), n: null } : end,
  };
}

function checkState(n: number, state: LiveWorkflow, reference: LiveWorkflow): readonly string[] {
  const result = state.end?.status === "completed" ? (state.end.result as JsonObject) : null;
  const isSame = isDeepStrictEqual(comparable(state), comparable(reference));
  if (isSame && result?.["n"] === n) return [];
  return [`it ended as ${JSON.stringify(comparable(state))} with ${JSON.stringify(result)}`];
}

export type Parts = {
  readonly history: readonly Happened[];
  readonly lines: readonly Received[];
  readonly isApplied: (action: string) => boolean;
};

/** Z2 and Z3 of one workflow. */
export function checkHistory({ history, lines, isApplied }: Parts): readonly string[] {
  const undo = toUndo(history, isApplied);
  return [
    ...checkEffects(undo, lines),
    ...checkRollback(undo, history),
    ...checkSecondAttempt(undo, history),
  ];
}

function isApplied(watch: Watch, action: string): boolean {
  return watch.actions.get(action)?.phase === "applied";
}

const DOUBTED: readonly string[] = ["card.pay", "card.pay.undo"];

function openAction([id, state]: readonly [string, ActionState]): readonly string[] {
  const { phase } = state;
  if (phase === "applied" || phase === "none") return [];
  const isEnded = phase === "not_applied" && DOUBTED.includes(state.tool);
  return isEnded ? [] : [`${id} (${state.tool}) is ${phase} in the end`];
}

const ENDED: readonly string[] = ["consumed", "rejected"];

/** Z4. */
function leftOpen({ actions, approvals }: Watch): readonly string[] {
  return [
    ...[...actions].flatMap(openAction),
    ...[...approvals].flatMap(([id, { status }]) =>
      ENDED.includes(status) ? [] : [`${id} is ${status} in the end`],
    ),
  ];
}

const numberOf = (state: LiveWorkflow): number => Number((state.input as JsonObject)["n"]);

/** Everything about all workflows; the reference is the one that nobody disturbed. */
export function checkWorkflows(
  watch: Watch,
  received: readonly Received[],
  wanted: { readonly numbers: readonly number[]; readonly reference: number },
): readonly string[] {
  const applied = appliedBy(watch, received);
  const byNumber = new Map<number, string[]>();
  for (const [id, state] of watch.workflows)
    if (state.status !== "none")
      byNumber.set(numberOf(state), [...(byNumber.get(numberOf(state)) ?? []), id]);
  const stateOf = (id: string) => watch.workflows.get(id) as LiveWorkflow;
  const [reference = ""] = byNumber.get(wanted.reference) ?? [];
  const wrong: string[] = [...leftOpen(watch)];
  for (const n of wanted.numbers) {
    const ids = byNumber.get(n) ?? [];
    if (ids.length !== 1) wrong.push(`the request id of ${n} has led to ${ids.length} workflows`);
    for (const id of ids) {
      const parts = { history: watch.histories.get(id) ?? [], lines: applied.get(id) ?? [] };
      const found = [
        ...checkState(n, stateOf(id), stateOf(reference)),
        ...checkHistory({ ...parts, isApplied: (action) => isApplied(watch, action) }),
      ];
      wrong.push(...found.map((text) => `${id} (${n}): ${text}`));
    }
  }
  return wrong;
}
