/** Planted bugs in workflows: found in the seeds that have some. */
import { inside, type Patch, type Planted } from "./planted-bug.ts";

const bug = (name: string, ...patches: readonly Patch[]): Planted => ({ name, patches, inFlows: true });

export const PLANTED_IN_FLOWS: readonly Planted[] = [
  bug(
    "effects are undone oldest first",
    inside("newestFirst", "b.at - a.at || b.seq - a.seq", "a.at - b.at || a.seq - b.seq"),
  ),
  bug(
    "an effect is undone twice",
    inside("undoOnce", "const requestId = `", "const requestId = run.state.seq + `"),
  ),
  bug(
    "an effect in doubt is undone",
    inside(
      "sort",
      'if (state.phase === "applied") applied.push(',
      'if (state.phase === "applied" || state.phase === "in_doubt") applied.push(',
    ),
    inside("doneBy", "loadValue(run.runtime, state.outcome.result)", "null"),
    inside("sweep", "doubts.length > 0 ? { waits: doubts }", "false ? { waits: doubts }"),
  ),
  bug("the answer of an effect that was undone is given again", inside("opId", "run.state.generation", "1")),
  bug("what was gone back over is answered again", inside("applyRollback", "  mask(table, toSeq);\n", "")),
  bug(
    "a replay answers in the order of names",
    inside(
      "openRun",
      "const seen = await loadInto(runtime, table, id, state.seq);",
      "const seen = await loadInto(runtime, table, id, state.seq);\n  table.deliveries.sort((a, b) => (a.key < b.key ? -1 : 1));",
    ),
  ),
  bug(
    "a workflow is let go of though something moved",
    inside("suspend", 'if (state.seq !== seen) return { kind: "moved" };', ""),
  ),
  bug(
    "a process that lost a workflow writes on",
    inside(
      "lockOwnRun",
      "state.runner === runner.epoch && PHASES[phase].includes(state.status)",
      "PHASES[phase].includes(state.status)",
    ),
    inside("isHere", "state.runner === epoch && state.status", "state.status"),
  ),
  bug(
    "a workflow is taken from a process that lives",
    inside("takeRun", "state.runner === null || state.runner === command.dead", "true"),
  ),
  bug(
    "a decision reaches the workflow later than its commit",
    inside("vote", "(isMoved ? tellSubject(draft, id) : undefined) ?? answer", "answer"),
  ),
  bug(
    "a checkpoint that nobody decided in time is passed",
    inside(
      "decideCheckpoint",
      "const decision = approval.status as CheckpointDecision;",
      'const decision = (approval.status === "expired" ? "approved" : approval.status) as CheckpointDecision;',
    ),
  ),
  bug(
    "a workflow goes on although not everything was undone",
    inside("isClean", "if (report.notUndone.length > 0) return false;", ""),
  ),
  bug(
    "a checkpoint's question outlives its workflow",
    inside("withdrawQuestion", "withdrawApproval(draft, state.pending.approval, { by, reason });", ""),
  ),
  bug(
    "a value is not recorded before the call that is made of it",
    inside("placeAndRun", "if (run.values.length === 0) await run.given;", "if (true) await run.given;"),
  ),
  bug(
    "a call begins while a checkpoint waits",
    inside(
      "isHere",
      'state.status === (within.undoes === null ? "executing" : "rolling_back")',
      '(state.status === "awaiting_approval" || state.status === (within.undoes === null ? "executing" : "rolling_back"))',
    ),
    inside("startAsked", 'run.state.status === "executing" ||', "true ||"),
  ),
  bug(
    "a call begins while the workflow is rolled back",
    inside(
      "isHere",
      'state.status === (within.undoes === null ? "executing" : "rolling_back")',
      '(state.status === "rolling_back" || state.status === "executing")',
    ),
  ),
  bug(
    "a child begins while a checkpoint waits",
    inside("spawnChild", 'if (parent.status !== "executing") return { kind: "turned" };', ""),
    inside("startAsked", 'op.kind !== "call" && run.table.ops.has(op.key)', 'op.kind === "child"'),
  ),
  bug(
    "a parent is not told of its child's end",
    inside("notifyParent", "if (state.parent === null) return;", "return;"),
  ),
  bug(
    "a sleep ends by the process's clock",
    inside("recordFacts", "facts.notBefore !== undefined && draft.now < facts.notBefore", "false"),
  ),
  bug(
    "a decision that came meanwhile is slept through",
    inside("followAnswer", "if (run.woken.delete(answer.approval)) return startAgain(run, op);", ""),
  ),
  bug(
    "a run that failed is never begun again",
    inside("startHere", "if (hasFailed) startHere(", "if (false) startHere("),
  ),
  bug(
    "a process is deaf to changed workflows",
    inside(
      "followChanges",
      "begun: () => offerReady(desk),",
      "begun: () => offerReady(desk),\n    from: 1_000_000,",
    ),
  ),
  bug(
    "a process that died keeps its workflows",
    inside(
      "offerAbandoned",
      "if (await isDead(desk, epoch, own.id)) offerRow(desk, row, epoch);",
      "if (false);",
    ),
  ),
  bug(
    "a doubt about a child's effect keeps its parent for ever",
    inside("wakeParents", "flow.parent !== null", "false"),
  ),
  bug(
    "an answer is lost when its workflow is sent back past it",
    inside(
      "mask",
      "table.deliveries.filter(({ key }) => table.ops.has(key))",
      "table.deliveries.filter(({ seq }) => seq <= toSeq)",
    ),
    inside(
      "mask",
      "  table.undos = [];\n}",
      "  table.undos = [];\n  const answered = new Set(table.deliveries.map(({ key }) => key));\n  for (const record of table.ops.values()) if (record.kind === 'question' && !answered.has(record.key)) record.settled = null;\n}",
    ),
  ),
];
