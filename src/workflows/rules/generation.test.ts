import { describe, test } from "node:test";
import { EPOCH, epochOpen, executor, proposal } from "../../../tests/fixtures/rules.ts";
import { created, flow, opOf, started, WORKFLOW } from "../../../tests/fixtures/workflow-rules.ts";
import { propose } from "../../effects/rules/propose.ts";
import type { Draft } from "../../kernel/transaction.ts";
import { fact, given } from "../../testing/given.ts";

const began = {
  to: null,
  toSeq: 0,
  by: "person:ann",
  reason: "again",
  after: "again",
  scope: "all",
  rejected: null,
};
const ended = { undone: [], notUndone: [], irreversible: [], generation: 2, toSeq: 0, after: "again" };
const sentBack = [
  epochOpen,
  created(),
  started,
  fact(flow, "rollback.began", began),
  fact(flow, "rollback.ended", ended),
];

const calls = (generation: number) => (draft: Draft) => {
  const op = opOf("refund", generation);
  const placement = { workflow: WORKFLOW, op, undoes: null, goesOn: false, epoch: EPOCH, rollback: true };
  return propose(draft, proposal({ requestId: op, placement, executor: executor() }));
};

describe("a workflow that was sent back while its process goes on", () => {
  test("takes calls of the attempt that is under way", () => {
    given(sentBack).when(calls(2)).answers({ kind: "new" });
  });

  test("takes none of a run that was sent back and is still at it", () => {
    given(sentBack).when(calls(1)).answers({ kind: "turned" }).then([]);
  });
});
