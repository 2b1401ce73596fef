/**
 * The life of a workflow as its raw events tell it: who writes, when something may begin, and what people decide.
 * Replay: what a definition hears is what the journal holds, in the journal's order, in every run.
 */

import { digestOf } from "../../../src/kernel/canonical-json.ts";
import type { Json, JsonObject } from "../../../src/kernel/json.ts";
import { isMemoryEpochHeld } from "../../../src/stores/memory/open.ts";
import type { Wait } from "../../../src/workflows/events.ts";
import { count, type HeardAnswer, type Sim } from "../sim.ts";
import { checkWaits } from "./check-rest.ts";
import { checkUndo, checkUndone, rollBackBegan, rollBackEnded } from "./check-rollback.ts";
import {
  type Commit,
  type Event,
  expect,
  generationOf,
  has,
  operationKey,
  type SeenAction,
  type SeenFlow,
  type SeenTenant,
  text,
} from "./seen.ts";

const WHAT: { readonly [type: string]: (body: JsonObject) => string | undefined } = {
  "step.completed": ({ result }) => digestOf(result as Json),
  "step.failed": () => "failed",
  "sleep.ended": () => "slept",
  "call.settled": ({ action, answer }) => `${text(action)} ${text((answer as JsonObject)["executed"])}`,
  "child.ended": ({ status, result }) => (status === "failed" ? "failed" : digestOf(result as Json)),
  "question.answered": ({ status, answer }) =>
    status === "answered" ? digestOf(answer as Json) : text(status),
  "checkpoint.passed": ({ outputs }) => digestOf(outputs as Json),
  "checkpoint.decided": ({ decision, outputs }) =>
    decision === "approved" || decision === "modified" ? digestOf(outputs as Json) : undefined,
};

/** An answer is written down. One for an operation that was gone back over is heard by nobody. */
function recordAnswer(_commit: Commit, event: Event, flow: SeenFlow): void {
  const what = WHAT[event.type]?.(event.body);
  const op = text(event.body["op"]);
  const key = operationKey(op);
  if (what === undefined || flow.opened.get(key)?.op !== op) return;
  const settled = flow.settled.get(flow.generation) ?? [];
  if (!settled.some((one) => one.op === op)) settled.push({ key, op, seq: event.seq, what });
}

export function checkHeard(sim: Sim, seen: SeenTenant, heard: HeardAnswer): void {
  const { workflow, attempt, index, key, what } = heard;
  const said = seen.flows.get(workflow)?.settled.get(attempt)?.[index];
  const is = said === undefined ? "nothing" : `${said.key} ${said.what}`;
  const same = said?.key === key && (said.what === what || said.what.endsWith(` ${what}`));
  expect(
    { sim },
    same,
    "replay",
    `${workflow} heard ${key} ${what} as answer ${index}, and the journal has ${is}`,
  );
  checkReceipt(sim, seen, heard);
}

/** An effect that was taken back is nobody's answer any more. */
function checkReceipt(sim: Sim, seen: SeenTenant, { workflow, key, what }: HeardAnswer): void {
  const action = what.split(" ")[0] ?? "";
  const isUndone = seen.flows.get(workflow)?.gone.has(action) === true;
  expect({ sim }, !isUndone, "replay", `${workflow} heard ${key} from ${action}, which was undone`);
}

const MOVES: { readonly [from: string]: readonly string[] } = {
  initialized: ["executing", "failed"],
  executing: ["awaiting_approval", "rolling_back", "settling", "failed"],
  awaiting_approval: ["executing", "rolling_back", "failed"],
  rolling_back: ["executing", "failed"],
  settling: ["completed"],
};

function turnTo(commit: Commit, flow: SeenFlow, status: string): void {
  const may = MOVES[flow.status]?.includes(status) === true;
  expect(commit, may, "W", `${flow.id} became ${status} and was ${flow.status}`);
  flow.status = status;
}

function create(commit: Commit, event: Event): void {
  const { name, parent, onIrreversible } = event.body;
  expect(commit, !commit.seen.flows.has(event.id), "W", `${event.id} was created twice`);
  commit.seen.flows.set(event.id, {
    id: event.id,
    name: text(name),
    parent: parent as SeenFlow["parent"],
    onIrreversible: text(onIrreversible),
    status: "initialized",
    runner: null,
    isReady: true,
    generation: 1,
    pending: null,
    calls: [],
    opened: new Map(),
    settled: new Map([[1, []]]),
    rollback: null,
    gone: new Set(),
    asked: new Set(),
    waits: [],
    wakeAt: null,
    end: null,
  });
}

/** A process that has lost its lease goes on with its own workflows in the name of its next epoch. */
function isOwnLapsed({ sim, life, seen }: Commit, runner: string | null): boolean {
  return (
    runner !== null && seen.epochs.get(runner)?.life === life && !isMemoryEpochHeld(sim.database, runner)
  );
}

/** One runner at a time: a workflow is taken when nobody has it, or from an epoch that ended. */
function take(commit: Commit, event: Event, flow: SeenFlow): void {
  const { epochs } = commit.seen;
  const epoch = epochs.get(text(event.body["epoch"]));
  expect(commit, epoch?.life === commit.life, "W", `${flow.id} was taken in the name of another`);
  const before = flow.runner === null ? undefined : epochs.get(flow.runner);
  const isFree = flow.runner === null || before?.ended === true || isOwnLapsed(commit, flow.runner);
  expect(commit, isFree, "W", `${flow.id} was taken from an epoch that lives`);
  if (flow.runner !== null) count(commit.sim, "workflow taken over");
  if (flow.status === "initialized") turnTo(commit, flow, "executing");
  flow.runner = text(event.body["epoch"]);
  flow.isReady = false;
  flow.waits = [];
  flow.wakeAt = null;
}

/** What only the process that runs it may say. */
const FACTS: readonly string[] = [
  "step.completed",
  "step.failed",
  "step.retried",
  "operation.refused",
  "value.recorded",
  "log.written",
  "sleep.began",
  "sleep.ended",
  "child.spawned",
  "question.asked",
  "call.made",
  "checkpoint.reached",
  "checkpoint.passed",
  "compensation.made",
  "rollback.ended",
  "workflow.settling",
  "workflow.completed",
  "workflow.suspended",
];

function checkRunner(commit: Commit, event: Event, flow: SeenFlow): void {
  if (!FACTS.includes(event.type)) return;
  const runner = flow.runner === null ? undefined : commit.seen.epochs.get(flow.runner);
  expect(
    commit,
    runner?.life === commit.life,
    "W",
    `${event.type} of ${flow.id} was written by a process that does not run it`,
  );
}

/** What begins something anew. */
const BEGINS: readonly string[] = ["call.made", "child.spawned", "question.asked"];
const OPENS = [
  ...BEGINS,
  "sleep.began",
  "checkpoint.reached",
  "checkpoint.passed",
  "step.completed",
  "step.failed",
  "step.retried",
];

function open(commit: Commit, event: Event, flow: SeenFlow): void {
  if (!OPENS.includes(event.type)) return;
  const op = text(event.body["op"]);
  const begins = BEGINS.includes(event.type);
  expect(
    commit,
    !begins || flow.status === "executing",
    "W",
    `${op} began (${event.type}) while the workflow is ${flow.status}`,
  );
  const key = operationKey(op);
  // A step is known from its first attempt on.
  const settled = flow.settled.get(flow.generation) ?? [];
  const isTried = flow.opened.get(key)?.op === op && !settled.some((one) => one.op === op);
  if (event.type.startsWith("step.") && isTried) return;
  expect(commit, generationOf(op) === flow.generation, "W", `${op} is of another generation`);
  expect(commit, !flow.opened.has(key), "W", `${op} was recorded twice`);
  const kind = event.type.slice(0, event.type.indexOf("."));
  flow.opened.set(key, { op, kind, seq: event.seq, body: event.body });
}

function makeCall(commit: Commit, event: Event, flow: SeenFlow): void {
  const { op, action, tool, rollback } = event.body;
  const proposed = has(commit, "action.proposed", `action/${text(action)}`);
  expect(commit, proposed?.body["requestId"] === op, "W", `${text(op)} was made without its action`);
  flow.calls.push({
    op: text(op),
    action: text(action),
    tool: text(tool),
    seq: event.seq,
    rollback: rollback === true,
  });
}

/** The place of an effect that starts: only where its workflow stands, in the hands of the process that runs it. */
export function checkPlace(commit: Commit, event: Event, action: SeenAction): void {
  if (action.within === null) return;
  const { workflow, undoes } = action.within;
  const flow = commit.seen.flows.get(workflow);
  const wanted = undoes === null ? "executing" : "rolling_back";
  expect(commit, flow?.status === wanted, "W", `${action.id} started while ${workflow} is ${flow?.status}`);
  expect(
    commit,
    flow?.runner === event.body["epoch"],
    "W",
    `${action.id} started beside ${workflow}'s runner`,
  );
}

function reach(commit: Commit, event: Event, flow: SeenFlow): void {
  const approval = text(event.body["approval"]);
  turnTo(commit, flow, "awaiting_approval");
  flow.pending = { op: text(event.body["op"]), approval };
  flow.asked.add(approval);
}

function decide(commit: Commit, event: Event, flow: SeenFlow): void {
  const { op, approval, decision } = event.body;
  const own = flow.pending?.op === op && flow.pending?.approval === approval;
  expect(commit, own, "W", `${text(op)} was decided and did not wait`);
  const end = has(commit, `approval.${text(decision)}`, `approval/${text(approval)}`);
  expect(commit, end !== undefined, "W", `${text(op)} was ${text(decision)} and ${text(approval)} was not`);
  flow.pending = null;
  if (decision === "approved" || decision === "modified") {
    turnTo(commit, flow, "executing");
    wake(flow);
  }
  count(commit.sim, `checkpoint ${text(decision)}`);
}

function wake(flow: SeenFlow): void {
  const waits = flow.end !== null || flow.status === "awaiting_approval";
  if (flow.runner === null && !waits) flow.isReady = true;
}

function suspend(commit: Commit, event: Event, flow: SeenFlow): void {
  flow.runner = null;
  flow.isReady = false;
  flow.waits = event.body["waits"] as unknown as readonly Wait[];
  flow.wakeAt = event.body["wakeAt"] as number | null;
  for (const { kind } of flow.waits) count(commit.sim, `${flow.status} waits for ${kind}`);
  checkWaits(commit, flow);
}

function end(commit: Commit, event: Event, flow: SeenFlow): void {
  const isDone = event.type === "workflow.completed";
  const isBack = has(commit, "rollback.ended", event.stream) !== undefined;
  const hasReport = (event.body["report"] ?? null) !== null;
  expect(commit, hasReport || !isBack, "I11", `${flow.id} failed after a rollback and without a report`);
  turnTo(commit, flow, isDone ? "completed" : "failed");
  flow.end = {
    status: isDone ? "completed" : "failed",
    report: (event.body["report"] ?? null) as NonNullable<SeenFlow["end"]>["report"],
  };
  Object.assign(flow, {
    runner: null,
    isReady: false,
    pending: null,
    rollback: null,
    waits: [],
    wakeAt: null,
  });
  if (flow.parent === null) return;
  const told = has(commit, "child.ended", `workflow/${flow.parent.workflow}`)?.body;
  const isTold = told?.["child"] === flow.id && told["op"] === flow.parent.op;
  expect(
    commit,
    isTold && told["status"] === flow.end.status,
    "W",
    `${flow.id} ended and its parent was not told`,
  );
}

const HANDLERS: { readonly [type: string]: (commit: Commit, event: Event, flow: SeenFlow) => void } = {
  "workflow.started": take,
  "workflow.resumed": take,
  "workflow.suspended": suspend,
  "workflow.woken": (_commit, _event, flow) => wake(flow),
  "child.ended": (_commit, _event, flow) => wake(flow),
  "question.answered": (_commit, _event, flow) => wake(flow),
  "call.settled": (_commit, _event, flow) => wake(flow),
  "call.made": makeCall,
  "sleep.ended": (commit, event, flow) => {
    const until = flow.opened.get(operationKey(text(event.body["op"])))?.body["until"];
    expect(commit, event.at >= Number(until), "W", `${text(event.body["op"])} ended before its time`);
  },
  "question.asked": (_commit, event, flow) => void flow.asked.add(text(event.body["approval"])),
  "checkpoint.reached": reach,
  "checkpoint.decided": decide,
  "compensation.made": checkUndo,
  "compensation.settled": (commit, event, flow) => {
    checkUndone(commit, event);
    wake(flow);
  },
  "rollback.began": (commit, event, flow) => {
    turnTo(commit, flow, "rolling_back");
    rollBackBegan(commit, event, flow);
    wake(flow);
  },
  "rollback.ended": (commit, event, flow) => {
    if (event.body["after"] === "again") turnTo(commit, flow, "executing");
    rollBackEnded(commit, event, flow);
  },
  "workflow.settling": (commit, _event, flow) => turnTo(commit, flow, "settling"),
  "workflow.completed": end,
  "workflow.failed": end,
};

export function checkFlow(commit: Commit, event: Event): void {
  if (event.type === "workflow.created") {
    create(commit, event);
    return;
  }
  const flow = commit.seen.flows.get(event.id);
  if (flow === undefined) {
    expect(commit, false, "8", `${event.type} before ${event.id} was created`);
    return;
  }
  checkRunner(commit, event, flow);
  open(commit, event, flow);
  recordAnswer(commit, event, flow);
  HANDLERS[event.type]?.(commit, event, flow);
}

/** At the end of a commit: what people decided has moved the workflow, and nobody is asked about what is over. */
export function checkAsked(commit: Commit, event: Event): void {
  const { flows, approvals } = commit.seen;
  const subject = event.stream.startsWith("approval/")
    ? approvals.get(event.id)?.question.subject
    : undefined;
  const about = subject === undefined || subject.kind === "intent" ? undefined : subject.workflow;
  const flow = flows.get(about ?? (event.stream.startsWith("workflow/") ? event.id : ""));
  if (flow === undefined) return;
  if (flow.pending !== null) {
    const { status } = approvals.get(flow.pending.approval) ?? {};
    expect(
      commit,
      status === "pending",
      "W",
      `${flow.id} waits for ${flow.pending.approval}, which is ${status}`,
    );
  }
  const isOver = flow.status === "rolling_back" || flow.end !== null;
  for (const approval of isOver ? flow.asked : [])
    if (approvals.get(approval)?.question.subject?.kind === "checkpoint")
      expect(
        commit,
        approvals.get(approval)?.status !== "pending",
        "W",
        `${approval} still asks about ${flow.id}, which is ${flow.status}`,
      );
}
