/** Planted bugs in workflows: found in the seeds that have some. */
import { at, type Patch, type Planted } from "./planted-bug.ts";

const bug = (name: string, ...patches: readonly Patch[]): Planted => ({ name, patches, inFlows: true });

const CALL = "src/core/workflow/call.ts";
const END = "src/core/workflow/fail.ts";
const RULES = "src/core/workflow/run.ts";
const ROLLBACK = "src/core/workflow/rollback.ts";
const TELL = "src/core/workflow/tell.ts";
const CALL_OP = "src/engine/workflow/call-op.ts";
const DISPATCH = "src/engine/workflow/dispatch.ts";
const DRIVE = "src/engine/workflow/drive.ts";
const RECORDED = "src/engine/workflow/recorded.ts";
const ROLL_BACK = "src/engine/workflow/roll-back.ts";

export const PLANTED_IN_FLOWS: readonly Planted[] = [
  bug("effects are undone oldest first", at(ROLL_BACK, "return calls.reverse();", "return calls;")),
  bug(
    "an effect is undone twice",
    at(ROLL_BACK, "const requestId = `", "const requestId = run.state.seq + `"),
  ),
  bug(
    "an effect in doubt is undone",
    at(
      ROLL_BACK,
      'if (state.phase === "applied") applied.push(',
      'if (state.phase === "applied" || state.phase === "in_doubt") applied.push(',
    ),
    at(ROLL_BACK, "loadValue(run.runtime, state.outcome.result)", "null"),
    at(ROLL_BACK, "doubts.length > 0 ? { waits: doubts }", "false ? { waits: doubts }"),
  ),
  bug(
    "the answer of an effect that was undone is given again",
    at("src/engine/workflow/operation.ts", "run.state.generation", "1"),
  ),
  bug("what was gone back over is answered again", at(RECORDED, "  mask(table, toSeq);\n", "")),
  bug(
    "a replay answers in the order of names",
    at(
      "src/engine/workflow/open-run.ts",
      "const seen = await loadInto(runtime, table, id, state.seq);",
      "const seen = await loadInto(runtime, table, id, state.seq);\n  table.deliveries.sort((a, b) => (a.key < b.key ? -1 : 1));",
    ),
  ),
  bug(
    "a workflow is let go of though something moved",
    at(RULES, 'if (state.seq !== seen) return { kind: "moved" };', ""),
  ),
  bug(
    "a process that lost a workflow writes on",
    at(
      RULES,
      "state.runner === runner.epoch && PHASES[phase].includes(state.status)",
      "PHASES[phase].includes(state.status)",
    ),
    at(CALL, "state.runner === epoch && state.status", "state.status"),
  ),
  bug(
    "a workflow is taken from a process that lives",
    at(RULES, "state.runner === null || state.runner === command.dead", "true"),
  ),
  bug(
    "a decision reaches the workflow later than its commit",
    at(
      "src/core/approval/vote.ts",
      "(standing(draft.state(ref)) === before ? undefined : tellWorkflow(draft, command.approval)) ?? answer",
      "answer",
    ),
  ),
  bug(
    "a checkpoint that nobody decided in time is passed",
    at(
      TELL,
      "const decision = approval.status as CheckpointDecision;",
      'const decision = (approval.status === "expired" ? "approved" : approval.status) as CheckpointDecision;',
    ),
  ),
  bug(
    "a workflow goes on although not everything was undone",
    at(ROLLBACK, "if (report.notUndone.length > 0) return false;", ""),
  ),
  bug(
    "a checkpoint's question outlives its workflow",
    at(END, "withdrawApproval(draft, state.pending.approval, { by, reason });", ""),
  ),
  bug(
    "a value is not recorded before the call that is made of it",
    at(CALL_OP, "if (run.values.length === 0) await run.given;", "if (true) await run.given;"),
  ),
  bug(
    "a call begins while a checkpoint waits",
    at(
      CALL,
      'state.status === (within.undoes === null ? "executing" : "rolling_back")',
      '(state.status === "awaiting_approval" || state.status === (within.undoes === null ? "executing" : "rolling_back"))',
    ),
    at(DRIVE, 'run.state.status === "executing" ||', "true ||"),
  ),
  bug(
    "a call begins while the workflow is rolled back",
    at(
      CALL,
      'state.status === (within.undoes === null ? "executing" : "rolling_back")',
      '(state.status === "rolling_back" || state.status === "executing")',
    ),
  ),
  bug(
    "a child begins while a checkpoint waits",
    at("src/core/workflow/create.ts", 'if (parent.status !== "executing") return { kind: "turned" };', ""),
    at(DRIVE, 'op.kind !== "call" && run.table.ops.has(op.key)', 'op.kind === "child"'),
  ),
  bug("a parent is not told of its child's end", at(END, "if (state.parent === null) return;", "return;")),
  bug(
    "a sleep ends by the process's clock",
    at(RULES, "facts.notBefore !== undefined && draft.now < facts.notBefore", "false"),
  ),
  bug(
    "a decision that came meanwhile is slept through",
    at(CALL_OP, 'if (run.woken.delete(answer.approval ?? "")) return startAgain(run, op);', ""),
  ),
  bug(
    "a run that failed is never begun again",
    at(DISPATCH, "if (hasFailed) startHere(", "if (false) startHere("),
  ),
  bug(
    "a process is deaf after an error of the store",
    at(DISPATCH, "if (position === null) {", "if (position === null) {\n      position = -1;"),
    at(DISPATCH, "      position = from;\n", "      position = from + 1_000_000;\n"),
  ),
  bug(
    "a process that died keeps its workflows",
    at(DISPATCH, "if (await isDead(desk, epoch, own.id)) offerRow(desk, row, epoch);", "if (false);"),
  ),
  bug("a doubt about a child's effect keeps its parent for ever", at(CALL, "flow.parent !== null", "false")),
  bug(
    "an answer is lost when its workflow is sent back past it",
    at(
      RECORDED,
      "table.deliveries.filter(({ key }) => table.ops.has(key))",
      "table.deliveries.filter(({ seq }) => seq <= toSeq)",
    ),
    at(
      RECORDED,
      "  table.undos = [];\n}",
      "  table.undos = [];\n  const answered = new Set(table.deliveries.map(({ key }) => key));\n  for (const record of table.ops.values()) if (record.kind === 'question' && !answered.has(record.key)) record.settled = null;\n}",
    ),
  ),
];
