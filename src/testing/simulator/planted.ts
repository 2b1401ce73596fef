/**
 * Planted bugs: textual changes to the production code that the simulator has to find. They are applied when a worker
 * loads the files, never on the disk.
 */

import { PLANTED_BEFOREHAND } from "./planted-beforehand.ts";
import { at, type Patch, type Planted } from "./planted-bug.ts";
import { PLANTED_AT_THE_DESK } from "./planted-desk.ts";
import { PLANTED_IN_FLOWS } from "./planted-flows.ts";
import { PLANTED_IN_STAGES } from "./planted-stages.ts";

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

const ADVANCE = "src/core/action/advance.ts";
const OUTCOME = "src/core/action/outcome.ts";
const RECOVER = "src/core/action/recover.ts";
const RESOLVE = "src/core/action/resolve.ts";
const START = "src/core/action/start.ts";
const APPROVAL = "src/core/approval/state.ts";
const VOTE = "src/core/approval/vote.ts";
const ATTEMPT = "src/engine/attempt.ts";
const PERFORM = "src/engine/perform.ts";

const IN_CALLS: readonly Planted[] = [
  bug(
    "no compare-and-set on a decision",
    at(VOTE, 'if (approval.status !== "pending")', "if (false)"),
    at(APPROVAL, "if (!FROM[event.type]?.includes(state.status))", "if (false)"),
    at(
      APPROVAL,
      'return state.status === "pending"\n',
      "return !/consumed|lapsed|revoked/.test(event.type)\n",
    ),
  ),
  bug(
    "expiry only by the sweeper",
    at(VOTE, "const current = passTime(draft, command.approval);", "const current = approval;"),
  ),
  bug(
    "the node's clock instead of the database's",
    at(
      "src/engine/run-command.ts",
      "place.clock.heard?.(sight.now);\n    return decide(sight);",
      "return decide({ ...sight, now: place.clock.now() });",
    ),
  ),
  bug(
    "a vote's binding is not compared",
    at(VOTE, "command.binding !== null && command.binding !== approval.binding", "false"),
  ),
  bug(
    "the arguments' hash of a request id is not compared",
    at("src/core/action/propose.ts", "action.proposedDigest === argsDigest", "true"),
  ),
  bug("an approval is not consumed", at(ADVANCE, 'if (answer.kind === "started") {', "if (false) {")),
  bug(
    "an approval is consumed in a commit of its own",
    at(ADVANCE, 'if (answer.kind === "started") {', "if (false) {"),
    at(
      "src/engine/move.ts",
      'await runtime.reach(isNew ? "after_propose"',
      `if (moved.kind === "new" && moved.answer.kind === "started") {
        const { effect } = moved.answer;
        await runLoading(runtime, { write: [actionStream(moved.action)] }, (draft) => {
          const { grant } = (draft.state(actionStream(moved.action)) as ActionIn<"running">).effect;
          if (grant.kind !== "approval") return { kind: "none" };
          const ref = { kind: "approval", id: grant.approval } as const;
          const more = draft.need({ write: [ref] });
          if (more !== undefined) return more;
          if (draft.state(ref).status !== "consumed") draft.append(ref, [{ type: "approval.consumed", tv: 1, body: { effect } }]);
          return { kind: "none" };
        });
      }
      await runtime.reach(isNew ? "after_propose"`,
    ),
  ),
  bug(
    "the outcome is written before the send",
    at(
      PERFORM,
      "const report = await attempt(",
      'await record(runtime, action, state, { status: "applied", result: null, spent: {} });\nconst report = await attempt(',
    ),
  ),
  bug(
    "the start is written after the send",
    at(
      "src/engine/execute.ts",
      'tool.rules.effectClass === "read"',
      'tool.rules.effectClass !== "transactional"',
    ),
    at("src/engine/perform-read.ts", "if (tool.hasCosts) return", "if (false) return"),
  ),
  bug(
    "a once tool is sent again",
    at(RECOVER, '["read", "idempotent", "keyed"]', '["read", "idempotent", "keyed", "once"]'),
  ),
  bug(
    "a key is minted per attempt",
    at(
      ATTEMPT,
      "idempotencyKey: effect.id",
      'idempotencyKey: effect.attempt === 1 ? effect.id : [effect.id, effect.attempt].join(".")',
    ),
  ),
  bug(
    "a key is used by two effects",
    at(ATTEMPT, "idempotencyKey: effect.id", "idempotencyKey: state.argsDigest.slice(0, 1)"),
  ),
  bug("the lease is not checked before the send", at(PERFORM, "!epoch.mayRun() ||", "")),
  bug(
    "a takeover does not fence the old epoch",
    at(
      RECOVER,
      "body: { epoch: command.epoch, reason: command.reason }",
      "body: { epoch: state.effect.epoch, reason: command.reason }",
    ),
  ),
  bug(
    "a zombie's outcome is accepted",
    at(
      OUTCOME,
      "if (effect.epoch !== command.epoch || effect.attempt !== command.attempt) return false;",
      "return true;",
    ),
  ),
  bug(
    "an unknown commit is a failure, and sent again",
    at("src/engine/run-command.ts", "|| attempt >= RETRIES", "|| attempt >= 1"),
    at(
      PERFORM,
      "(isHoldpointError(error) && error.retryable) ||",
      '(isHoldpointError(error) && error.retryable) || isHoldpointError(error, "commit_unknown") ||',
    ),
    at(
      PERFORM,
      ": await record(runtime, action, state, report);",
      `: await record(runtime, action, state, report).catch((error) => {
          if (!isHoldpointError(error, "commit_unknown")) throw error;
          return { kind: "recorded", state };
        });`,
    ),
  ),
  bug(
    "an unknown commit is a success",
    at("src/engine/run-command.ts", "|| attempt >= RETRIES", "|| attempt >= 1"),
    at(
      "src/engine/vote.ts",
      "const answer: VoteAnswer = await runLoading(",
      `const sure = (answer: Promise<VoteAnswer>): Promise<VoteAnswer> =>
        answer.catch((error) => {
          if (error.code !== "commit_unknown") throw error;
          return { kind: "recorded", status: "approved", approval: ballot.approval };
        });
      const answer: VoteAnswer = await sure(runLoading(`,
    ),
    at("src/engine/vote.ts", "loaderOf(runtime, tool),\n  );", "loaderOf(runtime, tool),\n  ));"),
  ),
  bug("the requester may vote", at("src/core/approval/eligible.ts", "out.includes(who) ||", "")),
  bug(
    "one person votes twice by two channels",
    at(VOTE, "vote.by === by && vote.binding", "vote.by === by && vote.via === command.via && vote.binding"),
    at(
      VOTE,
      "approval.votes.some((vote) => vote.by === command.by)",
      "approval.votes.some((vote) => vote.by === command.by && vote.via === command.via)",
    ),
    at(APPROVAL, "[...new Set(theirs.map((vote) => vote.by))]", "theirs.map((vote) => vote.by)"),
  ),
  bug("a rejection does not end it", at(VOTE, "else if (isHopeless(", "else if (false && isHopeless(")),
  bug(
    "budgets are checked without what is reserved",
    at("src/core/budget.ts", "state.spent - state.reserved", "state.spent"),
  ),
  bug("a reservation is never released", at(OUTCOME, "settleCosts(draft, effect, false, {});", "")),
  bug(
    "the chain's head is read outside the lock",
    at(
      "src/stores/memory/transact.ts",
      "found?.streams.get(name)?.head ??",
      "stale(found?.streams.get(name)) ??",
    ),
    at(
      "src/stores/memory/transact.ts",
      "function groundOf(",
      `const last = new Map(); let calls = 0;
function stale(stream) {
  if (stream === undefined) return undefined;
  const before = last.get(stream.name);
  last.set(stream.name, stream.head);
  return ++calls % 40 === 0 ? before : stream.head;
}
function groundOf(`,
    ),
  ),
  bug(
    "a cut tail is accepted",
    at("src/core/verify-entry.ts", "findMissing(head, find);\n  }\n  for", "void head;\n  }\n  for"),
  ),
  bug(
    "a reloaded policy is ignored at dispatch",
    at(ADVANCE, "if (rules.policyDigest !== approval.policy)", "if (false)"),
  ),
  bug(
    "a list forgets the tenant",
    at(
      "src/stores/memory/views.ts",
      "[...(found?.views.get(asked.view)?.values() ?? [])]",
      "[...database.data.tenants.values()].flatMap((one) => [...(one.views.get(asked.view)?.values() ?? [])])",
    ),
  ),
  bug(
    "recovery ignores the kill switch",
    at(
      RECOVER,
      "look.on !== undefined ||\n    draft.state(epochStream(command.epoch))",
      "draft.state(epochStream(command.epoch))",
    ),
  ),
  bug(
    "doubt releases budgets",
    at(
      OUTCOME,
      'draft.append(ref, [{ type: "effect.in_doubt"',
      'settleCosts(draft, effect, false, {});\n      draft.append(ref, [{ type: "effect.in_doubt"',
    ),
  ),
  bug(
    "a probe is believed before its finality",
    at(RESOLVE, "command.askedAt >= state.outcome.at + command.finalityMs", "true"),
  ),
  bug(
    "sent again after the key's retention",
    at(RECOVER, "now >= state.effect.startedAt + retentionMs", "false"),
  ),
  bug(
    "a revoked approval still starts",
    at(
      ADVANCE,
      'if (approval.status === "approved" ||',
      'if (approval.status === "revoked" || approval.status === "approved" ||',
    ),
    at("src/core/approval/end.ts", 'refuseSubject(draft, state, { code: "revoked", by, reason });', ""),
    at(
      APPROVAL,
      '"approval.consumed": ["approved", "modified"]',
      '"approval.consumed": ["approved", "modified", "revoked"]',
    ),
    at(
      APPROVAL,
      '"approval.lapsed": ["approved", "modified"]',
      '"approval.lapsed": ["approved", "modified", "revoked"]',
    ),
  ),
  bug(
    "a living epoch is recovered",
    at("src/engine/epoch.ts", "if (await place.store.epochHeld(id)) return false;", ""),
  ),
  bug(
    "an edit keeps the votes given before",
    at(APPROVAL, "showsOther,\n    votes: [],", "showsOther,"),
    at(
      APPROVAL,
      'vote.decision === "approve" && vote.binding === approval.binding &&',
      'vote.decision === "approve" &&',
    ),
  ),
  bug("a suspended voter counts", at("src/core/deciders.ts", "suspended.includes(person)", "false")),
  bug(
    "a lease is measured by a clock that can be set back",
    at(
      "src/engine/clock.ts",
      "Math.max(clock.now() - begun.wall, steady() - begun.steady)",
      "clock.now() - begun.wall",
    ),
  ),
  bug(
    "the key's retention is not checked before the send",
    at(PERFORM, "state.effect.attempt > 1 && isForgotten", "false && isForgotten"),
  ),
  bug(
    "a changed tool leaves an effect running for ever",
    at("src/engine/recover.ts", 'isSame ? tool : "changed"', "isSame ? tool : null"),
  ),
  bug(
    "an attempt is sent by two calls at once",
    at(PERFORM, "|| runtime.sent.has(attemptName({ action, state }))", ""),
    at(PERFORM, "if (runtime.performing.has(action))", "if (false)"),
    at(
      "src/engine/recover.ts",
      'state.phase !== "running" || runtime.performing',
      'state.phase !== "running" || new Set()',
    ),
    at(
      "src/engine/recover.ts",
      "if (runtime.sent.has(name) || runtime.performing.has(action))",
      "if (false)",
    ),
    at(PERFORM, "|| recovered.has(attemptName({ action, state }))", ""),
  ),
  bug(
    "a start that is heard of late is sent a second time",
    at(PERFORM, "|| recovered.has(attemptName({ action, state }))", ""),
    at(PERFORM, "const FRESH_MS = 250;", "const FRESH_MS = 5_000;"),
  ),
  bug("a second attempt's refusal hides the first", at(OUTCOME, "attempt === 1 ||", "true ||")),
  bug("a start ignores execute_by", at(ADVANCE, "draft.now >= approval.executeBy", "false")),
  bug(
    "the kill switch is ignored at the start",
    at(START, "if (look.on === undefined) return undefined;", "return undefined;"),
  ),
  bug(
    "a secret is not taken out of results",
    at(ATTEMPT, "redactJson(resultJson(value), known)", "resultJson(value)"),
  ),
  bug(
    "a view is not written with its events",
    at(
      "src/stores/memory/transact.ts",
      "writeRows(database, tenant, rows);",
      "if (rows.length < 2) writeRows(database, tenant, rows);",
    ),
  ),
];

export const PLANTED: readonly Planted[] = [
  ...IN_CALLS,
  ...PLANTED_BEFOREHAND,
  ...PLANTED_IN_FLOWS,
  ...PLANTED_AT_THE_DESK,
  ...PLANTED_IN_STAGES,
];
