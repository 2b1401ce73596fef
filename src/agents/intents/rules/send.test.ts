import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  asked,
  askedWorld,
  DOER,
  INTENT,
  intent,
  listed,
  OTHER_INTENT,
  SENDER,
  sends,
  sentWorld,
  supervisor,
  suspended,
  toPeople,
  votes,
} from "../../../../tests/fixtures/intent-rules.ts";
import { ANN, APPROVAL, BOB } from "../../../../tests/fixtures/rules.ts";
import { expireIfDue } from "../../../approvals/rules/deadline.ts";
import { cancelApproval } from "../../../approvals/rules/withdraw.ts";
import type { Draft } from "../../../kernel/transaction.ts";
import { fact, given, NOON } from "../../../testing/given.ts";
import { answerIntent, cancelIntent, markAcknowledged, timeOutIntentIfDue } from "./answer.ts";
import { readRecipient, sendIntent } from "./send.ts";

describe("sending an intent", () => {
  test("keeps what was sent, for whom, by whom and until when", () => {
    given([])
      .when(sends({ withinMs: 5_000, parent: OTHER_INTENT, correlation: "trip-7" }))
      .then([
        fact(intent, "intent.sent", {
          intentType: "task",
          to: DOER,
          from: SENDER,
          payload: { task: "sort the mail" },
          deadline: NOON + 5_000,
          parent: OTHER_INTENT,
          correlation: "trip-7",
          approval: null,
        }),
      ])
      .answers({ kind: "sent", intent: INTENT, approval: null });
  });

  test("a large payload is kept as an artifact", () => {
    const { world, appended } = given([]).when(sends({ payload: { text: "x".repeat(100_000) } }));
    assert.equal(world.artifacts.length, 1);
    assert.ok(JSON.stringify(appended[0]?.body).length < 2_000);
  });

  test("under the same request id answers the same intent, and other content is a conflict", () => {
    const world = sentWorld({ requestId: "r-1", withinMs: 5_000 });
    const again = { intent: OTHER_INTENT, requestId: "r-1", withinMs: 5_000 };
    given(world, { now: NOON + 9 })
      .when(sends(again))
      .then([])
      .answers({ kind: "existing", intent: INTENT });
    for (const other of [
      { payload: { task: "burn the mail" } },
      { to: "agent:else" },
      { from: "agent:else" },
      { intentType: "note" },
      { withinMs: 6_000 },
      { withinMs: null },
      { parent: OTHER_INTENT },
      { correlation: "x" },
    ])
      given(world)
        .when(sends({ ...again, ...other }))
        .then([])
        .answers({ kind: "conflict", intent: INTENT });
  });

  test("said twice after a commit whose fate was unknown, it is sent once", () => {
    given(sentWorld({ requestId: "r-1" }))
      .when(sends({ requestId: "r-1" }))
      .then([])
      .answers({ kind: "existing", intent: INTENT });
  });
});

describe("whom an address means", () => {
  for (const [type, address, to] of [
    ["task", "agent://doer", "agent:doer"],
    ["task", "agent:doer", "agent:doer"],
    ["task", "agent://", undefined],
    ["task", "agent://a/b", "agent:a/b"],
    ["task", "service:billing", "service:billing"],
    ["task", "agent://service:billing", "service:billing"],
    ["task", "person:ann", "person:ann"],
    ["task", "service:", undefined],
    ["task", "role:supervisor", undefined],
    ["task", "agent://group:finance", undefined],
    ["human_approval", "service:billing", undefined],
    ["human_approval", "agent://approver", "role:supervisor"],
    ["human_approval", "agent://auditor", "role:auditor"],
    ["human_approval", "role:admin", "role:admin"],
    ["human_approval", "role:king", undefined],
    ["human_approval", "agent://person:ann", "person:ann"],
    ["human_approval", "group:finance", "group:finance"],
    ["human_approval", "agent://doer", undefined],
    ["human_approval", "agent:doer", undefined],
  ] as const)
    test(`${type} to ${address} is for ${to ?? "nobody"}`, () => {
      assert.equal(readRecipient(type, address), to);
    });
});

describe("an intent that people are to approve", () => {
  test("is an approval, made in the same commit, and waits for it", () => {
    given([])
      .when((draft) => sendIntent(draft, toPeople({ withinMs: 60_000 })))
      .then([
        fact(intent, "intent.sent", { approval: APPROVAL, to: "role:supervisor" }),
        fact(intent, "intent.delivered"),
        fact(intent, "intent.acknowledged"),
        fact(intent, "intent.waiting", { on: APPROVAL }),
        fact(asked, "approval.requested", {
          action: INTENT,
          subject: { kind: "intent", intent: INTENT, op: INTENT },
          args: { task: "sort the mail" },
          says: "Deploy",
          agent: SENDER,
          requester: [SENDER],
          decideBy: NOON + 60_000,
        }),
      ]);
  });

  test("approved, the intent is completed in the commit of the vote", () => {
    given(askedWorld(), { now: NOON + 1_000 })
      .when(votes("approve", { note: "fine" }))
      .then([
        fact(asked, "approval.voted"),
        fact(asked, "approval.approved"),
        fact(asked, "approval.consumed"),
        fact(intent, "intent.completed", {
          by: ANN,
          data: {
            approved: true,
            decision: "approved",
            rationale: "fine",
            modifications: null,
            approved_by: [ANN],
            decided_by: [ANN],
            decided_at: new Date(NOON + 1_000).toISOString(),
          },
        }),
      ]);
  });

  test("rejected, it is completed and not approved", () => {
    const { world, appended } = given(askedWorld()).when(votes("reject", { note: "too late" }));
    assert.deepEqual(
      appended.map(({ type }) => type),
      ["approval.voted", "approval.rejected", "intent.completed"],
    );
    assert.partialDeepStrictEqual(appended[2]?.body["data"], {
      approved: false,
      decision: "rejected",
      rationale: "too late",
      approved_by: [],
      decided_by: [ANN],
    });
    given(world)
      .when(votes("approve", { by: BOB }))
      .then([fact(asked, "approval.vote_refused")]);
  });

  test("edited, it says what people made of it", () => {
    const edit = { task: "sort half of the mail" };
    const { appended } = given(askedWorld()).when(votes("approve", { edit }));
    assert.partialDeepStrictEqual(appended.find(({ type }) => type === "intent.completed")?.body["data"], {
      approved: true,
      decision: "modified",
      modifications: edit,
    });
  });

  test("nobody decided in time: it is timed out, by whoever looks first", () => {
    const late = { now: NOON + 60_000 };
    const world = askedWorld({ withinMs: 60_000 });
    const timedOut = fact(intent, "intent.timed_out", { deadline: NOON + 60_000 });
    given(world, late)
      .when((draft) => expireIfDue(draft, APPROVAL))
      .then([fact(asked, "approval.expired"), timedOut]);
    given(world, late)
      .when(votes("approve"))
      .then([fact(asked, "approval.expired"), fact(asked, "approval.vote_refused"), timedOut]);
    given(world, late)
      .when((draft) => timeOutIntentIfDue(draft, INTENT))
      .then([]);
  });

  test("taken back, from either side, both are cancelled", () => {
    const said = { by: ANN, reason: "not needed" };
    const cancelled = [fact(asked, "approval.cancelled"), fact(intent, "intent.cancelled", said)];
    given(askedWorld())
      .when((draft) => cancelApproval(draft, { approval: APPROVAL, ...said }))
      .then(cancelled);
    given(askedWorld())
      .when((draft) => cancelIntent(draft, { intent: INTENT, ...said }))
      .then(cancelled);
  });

  test("nobody answers it past the approval", () => {
    const speaker = { intent: INTENT, by: ANN };
    const refused = { kind: "refused", code: "wrong_state" };
    for (const rules of [
      (draft: Draft) => markAcknowledged(draft, speaker),
      (draft: Draft) => answerIntent(draft, { ...speaker, status: "completed", data: { approved: true } }),
    ])
      given(askedWorld())
        .when(rules)
        .then([fact(intent, "intent.refused")])
        .answers(refused);
  });

  test("the sender cannot approve it; where there is a list of people, only those meant may", () => {
    given(askedWorld({ ask: { ...toPeople().ask, requester: [SENDER, ANN] } as never }))
      .when(votes("approve"))
      .answers({ kind: "vote_refused", code: "not_eligible" });
    const { world } = given([supervisor(BOB)]).when((draft) => sendIntent(draft, toPeople()));
    given(world).when(votes("approve")).answers({ kind: "vote_refused", code: "not_eligible" });
    given(world)
      .when(votes("approve", { by: BOB }))
      .answers({ kind: "recorded" });
  });

  test("is not sent where nobody could decide it", () => {
    given([supervisor(BOB)])
      .when((draft) => sendIntent(draft, toPeople({ to: "group:finance" })))
      .then([])
      .answers({ kind: "unmeetable" });
    given([supervisor(BOB), suspended(BOB)])
      .when((draft) => sendIntent(draft, toPeople()))
      .then([])
      .answers({ kind: "unmeetable", reason: "person:bob is suspended" });
    given([supervisor(BOB)])
      .when((draft) => sendIntent(draft, toPeople({ to: "person:ann" })))
      .then([])
      .answers({ kind: "unmeetable", reason: "person:ann is not in the list of people" });
    given([supervisor(BOB), listed(ANN, "auditor")])
      .when((draft) => sendIntent(draft, toPeople({ to: "role:auditor" })))
      .then([])
      .answers({ kind: "unmeetable", reason: "person:ann has no role that decides" });
    given([supervisor(BOB), suspended(BOB), supervisor(ANN)])
      .when((draft) => sendIntent(draft, toPeople()))
      .answers({ kind: "sent" });
    given([])
      .when((draft) => sendIntent(draft, toPeople({ to: "person:ann" })))
      .answers({ kind: "sent" });
  });
});
