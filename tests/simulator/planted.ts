/**
 * Planted bugs: textual changes to the production code that the simulator has to find. They are applied when a worker
 * loads the files, never on the disk.
 */

import { PLANTED_IN_DELEGATION, PLANTED_IN_GRANTS, PLANTED_IN_STAGES } from "./planted-approvals.ts";
import { inside, type Patch, type Planted } from "./planted-bug.ts";
import { PLANTED_IN_FLOWS } from "./planted-workflows.ts";

/** Found by `npm run sim -- --planted`, but after more seeds than a test should take. */
export const RARE: readonly string[] = [
  "a vote's binding is not compared",
  "a lease is measured by a clock that can be set back",
  "the key's retention is not checked before the send",
  "a changed tool leaves an effect running for ever",
  "a second attempt's refusal hides the first",
  "a doubt about a child's effect keeps its parent for ever",
  "a child begins while a checkpoint waits",
  "an answer is lost when its workflow is sent back past it",
  "a child begins while a checkpoint waits",
  "a start that is heard of late is sent a second time",
];

const bug = (name: string, ...patches: readonly Patch[]): Planted => ({ name, patches, inFlows: false });

const IN_CALLS: readonly Planted[] = [
  bug(
    "no compare-and-set on a decision",
    inside("whyNot", 'if (approval.status !== "pending") return conflict(', "if (false) return conflict("),
    inside("PENDING", '["pending"] as const', '"live"'),
    inside("GIVEN", '["approved", "modified"] as const', '"live"'),
  ),
  bug(
    "expiry only by the sweeper",
    inside("cast", "const current = passTime(draft, id);", "const current = approval;"),
  ),
  bug(
    "the node's clock instead of the database's",
    inside(
      "runDecide",
      "place.clock.heard?.(sight.now);\n    return context.runInAsyncScope(decide, undefined, sight);",
      "return decide({ ...sight, now: place.clock.now() });",
    ),
  ),
  bug(
    "a vote's binding is not compared",
    inside("whyNot", "command.binding !== null && command.binding !== approval.binding", "false"),
  ),
  bug(
    "the arguments' hash of a request id is not compared",
    inside("existing", "action.proposedDigest === argsDigest", "true"),
  ),
  bug(
    "an approval is not consumed",
    inside("startByApproval", 'if (answer.kind === "started") {', "if (false) {"),
  ),
  bug(
    "an approval is consumed in a commit of its own",
    inside("startByApproval", 'if (answer.kind === "started") {', "if (false) {"),
    inside(
      "advanceCall",
      'await runtime.reach(isNew ? "after_propose"',
      `if (moved.kind === "new" && moved.answer.kind === "started") {
        const { effect } = moved.answer;
        await runWithInputs(runtime, { write: [actionStream(moved.action)] }, (draft) => {
          const { grant } = (draft.state(actionStream(moved.action)) as ActionIn<"running">).effect;
          if (grant.kind !== "approval") return { kind: "none" };
          const ref = { kind: "approval", id: grant.approval } as const;
          const more = draft.need({ write: [ref] });
          if (more !== undefined) return more;
          if (draft.state(ref).status !== "consumed") draft.append(ref, [{ type: "approval.consumed", tv: 1, body: { effect } }]);
          return { kind: "none" };
        }, createInputLoader(runtime, tool));
      }
      await runtime.reach(isNew ? "after_propose"`,
    ),
  ),
  bug(
    "the outcome is written before the send",
    inside(
      "sendOnce",
      "const report = await attempt(",
      'await record(runtime, action, state, { status: "applied", result: null, spent: {} });\nconst report = await attempt(',
    ),
  ),
  bug(
    "the start is written after the send",
    inside("moveByClass", 'tool.rules.effectClass === "read"', 'tool.rules.effectClass !== "transactional"'),
    inside("performRead", "if (tool.hasCosts) return", "if (false) return"),
  ),
  bug(
    "a once tool is sent again",
    inside("SENT_AGAIN", '["read", "idempotent", "keyed"]', '["read", "idempotent", "keyed", "once"]'),
  ),
  bug(
    "a key is minted per attempt",
    inside(
      "createToolContext",
      "idempotencyKey: effect.id",
      'idempotencyKey: effect.attempt === 1 ? effect.id : [effect.id, effect.attempt].join(".")',
    ),
  ),
  bug(
    "a key is used by two effects",
    inside("createToolContext", "idempotencyKey: effect.id", "idempotencyKey: state.argsDigest.slice(0, 1)"),
  ),
  bug("the lease is not checked before the send", inside("attempts", "!epoch.mayRun() ||", "")),
  bug(
    "a takeover does not fence the old epoch",
    inside(
      "again",
      "body = { epoch: command.epoch, reason: command.reason }",
      "body = { epoch: state.effect.epoch, reason: command.reason }",
    ),
  ),
  bug(
    "a zombie's outcome is accepted",
    inside(
      "mayWrite",
      "if (effect.epoch !== command.epoch || effect.attempt !== command.attempt) return false;",
      "return true;",
    ),
  ),
  bug(
    "an unknown commit is a failure, and sent again",
    inside("retryUnknownCommit", "|| attempt >= RETRIES", "|| attempt >= 1"),
    inside(
      "persist",
      "(isHoldpointError(error) && error.retryable) ||",
      '(isHoldpointError(error) && error.retryable) || isHoldpointError(error, "commit_unknown") ||',
    ),
    inside(
      "sendOnce",
      ": await record(runtime, action, state, report);",
      `: await record(runtime, action, state, report).catch((error) => {
          if (!isHoldpointError(error, "commit_unknown")) throw error;
          return { kind: "recorded", state };
        });`,
    ),
  ),
  bug(
    "an unknown commit is a success",
    inside("retryUnknownCommit", "|| attempt >= RETRIES", "|| attempt >= 1"),
    inside(
      "castVote",
      "const answer: VoteAnswer = await runWithInputs(",
      `const sure = (answer: Promise<VoteAnswer>): Promise<VoteAnswer> =>
        answer.catch((error) => {
          if (error.code !== "commit_unknown") throw error;
          return { kind: "recorded", status: "approved", approval: ballot.approval };
        });
      const answer: VoteAnswer = await sure(runWithInputs(`,
    ),
    inside("castVote", "createInputLoader(runtime, tool),\n  );", "createInputLoader(runtime, tool),\n  ));"),
  ),
  bug("the requester may vote", inside("isExcluded", "out.includes(person) || ", "")),
  bug(
    "one person votes twice by two channels",
    inside(
      "isRepeat",
      "vote.by === by && vote.binding",
      "vote.by === by && vote.via === command.via && vote.binding",
    ),
    inside(
      "whyNot",
      "approval.votes.some((vote) => vote.by === by)",
      "approval.votes.some((vote) => vote.by === by && vote.via === command.via)",
    ),
    inside("agreedIn", "[...new Set(theirs.map((vote) => vote.by))]", "theirs.map((vote) => vote.by)"),
  ),
  bug(
    "a rejection does not end it",
    inside("castVote", "else if (isHopeless(", "else if (false && isHopeless("),
  ),
  bug(
    "budgets are checked without what is reserved",
    inside("reserveAmount", "state.spent - state.reserved", "state.spent"),
  ),
  bug(
    "a reservation is never released",
    inside("writeOutcome", "settleCosts(draft, effect, false, {});", ""),
  ),
  bug(
    "the chain's head is read outside the lock",
    inside("memoryContext", "found?.streams.get(name)?.head ??", "stale(found?.streams.get(name)) ??"),
    inside(
      "memoryContext",
      "function memoryContext(database: MemoryDatabase",
      `const last = new Map(); let calls = 0;
function stale(stream) {
  if (stream === undefined) return undefined;
  const before = last.get(stream.name);
  last.set(stream.name, stream.head);
  return ++calls % 40 === 0 ? before : stream.head;
}
function memoryContext(database: MemoryDatabase`,
    ),
  ),
  bug(
    "a cut tail is accepted",
    inside("checkEnd", "findMissing(head, find);\n  }\n  for", "void head;\n  }\n  for"),
  ),
  bug(
    "a reloaded policy is ignored at dispatch",
    inside("unusable", "if (rules.policyDigest !== approval.policy)", "if (false)"),
  ),
  bug(
    "a list forgets the tenant",
    inside(
      "query",
      "[...(found?.views.get(asked.view)?.values() ?? [])]",
      "[...database.data.tenants.values()].flatMap((one) => [...(one.views.get(asked.view)?.values() ?? [])])",
    ),
  ),
  bug(
    "recovery ignores the kill switch",
    inside(
      "again",
      "look.on !== undefined ||\n    draft.state(epochStream(command.epoch))",
      "draft.state(epochStream(command.epoch))",
    ),
  ),
  bug(
    "doubt releases budgets",
    inside(
      "writeOutcome",
      'appendActionEvent(draft, action, "effect.in_doubt"',
      'settleCosts(draft, effect, false, {});\n      appendActionEvent(draft, action, "effect.in_doubt"',
    ),
  ),
  bug(
    "a probe is believed before its finality",
    inside("recordProbe", "command.askedAt >= state.outcome.at + command.finalityMs", "true"),
  ),
  bug(
    "sent again after the key's retention",
    inside("isForgotten", "now >= state.effect.startedAt + retentionMs", "false"),
  ),
  bug(
    "a revoked approval still starts",
    inside(
      "followApproval",
      'if (approval.status === "approved" ||',
      'if (approval.status === "revoked" || approval.status === "approved" ||',
    ),
    inside("REFUSES", ', "revoked"', ""),
    inside("GIVEN", '["approved", "modified"]', '["approved", "modified", "revoked"]'),
  ),
  bug(
    "a living epoch is recovered",
    inside("endIfDead", "if (await place.store.epochHeld(id)) return false;", ""),
  ),
  bug(
    "an edit keeps the votes given before",
    inside("revise", "showsOther, votes: []", "showsOther"),
    inside(
      "agreedIn",
      'vote.decision === "approve" && vote.binding === approval.binding &&',
      'vote.decision === "approve" &&',
    ),
  ),
  bug("a suspended voter counts", inside("isRemovedOrSuspended", "suspended.includes(person)", "false")),
  bug(
    "a lease is measured by a clock that can be set back",
    inside(
      "stopwatch",
      "Math.max(clock.now() - begun.wall, steady() - begun.steady)",
      "clock.now() - begun.wall",
    ),
  ),
  bug(
    "the key's retention is not checked before the send",
    inside("attempts", "state.effect.attempt > 1 && isForgotten", "false && isForgotten"),
  ),
  bug(
    "a changed tool leaves an effect running for ever",
    inside("toolFor", 'isSame ? tool : "changed"', "isSame ? tool : null"),
  ),
  bug(
    "an attempt is sent by two calls at once",
    inside("attempts", "|| runtime.sent.has(attemptName({ action, state }))", ""),
    inside("perform", "if (runtime.performing.has(action))", "if (false)"),
    inside(
      "takeOne",
      'state.phase !== "running" || runtime.performing',
      'state.phase !== "running" || new Set()',
    ),
    inside("findOwn", "if (runtime.sent.has(name) || runtime.performing.has(action))", "if (false)"),
    inside("readyAtOnce", "|| recovered.has(attemptName({ action, state }))", ""),
  ),
  bug(
    "a start that is heard of late is sent a second time",
    inside("readyAtOnce", "|| recovered.has(attemptName({ action, state }))", ""),
    inside("readyAtOnce", "age() >= FRESH_MS", "age() >= 5_000"),
  ),
  bug("a second attempt's refusal hides the first", inside("proven", "attempt === 1 ||", "true ||")),
  bug("a start ignores execute_by", inside("unusable", "draft.now >= approval.executeBy", "false")),
  bug(
    "the kill switch is ignored at the start",
    inside("checkMayStart", "if (look.on === undefined) return undefined;", "return undefined;"),
  ),
  bug(
    "a secret is not taken out of results",
    inside("judged", "redactJson(resultJson(value), known)", "resultJson(value)"),
  ),
  bug(
    "a view is not written with its events",
    inside(
      "transact",
      "writeRows(database, tenant, rows);",
      "if (rows.length < 2) writeRows(database, tenant, rows);",
    ),
  ),
];

export const PLANTED: readonly Planted[] = [
  ...IN_CALLS,
  ...PLANTED_IN_GRANTS,
  ...PLANTED_IN_FLOWS,
  ...PLANTED_IN_DELEGATION,
  ...PLANTED_IN_STAGES,
];
