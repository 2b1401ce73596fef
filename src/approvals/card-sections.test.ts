// What the card's document says of effects, changes and costs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { workflowCommands } from "./card-checkpoint.ts";
import { type ActionFacts, actionDocument } from "./card-document.ts";
import type { Card } from "./card-schema.ts";
import { changesSection, effectsSection, historySection, rejectionSections } from "./card-sections.ts";
import type { Approval } from "./contract.ts";

type Workflow = NonNullable<Card["workflow"]>;
type Effect = Workflow["done"][number];

const EFFECT: Effect = {
  ...{ action: "act_1", tool: "room.book", effectClass: "once", phase: "applied", at: 1_000 },
  ...{
    args: '{"room":"A\\nB\\u202e\\\\n"}',
    canUndo: true,
    isUndone: false,
    cannotUndo: false,
    isSince: true,
  },
};
const WORKFLOW: Workflow = {
  ...{ workflow: "wf_1", name: "party", status: "awaiting_approval", attempt: 1, attempts: 5 },
  ...{ done: [EFFECT], children: [], total: 1, cannotUndo: 0, since: 0 },
};
const REJECTING = {
  ...{ goesBackTo: "Plan", isEnd: false, isLast: false, undone: [], claimed: [] },
  ...{ stays: [], permanent: [] },
};
const staying = (...permanent: NonNullable<Card["rejecting"]>["permanent"]) => ({
  ...{ ...REJECTING, permanent, stays: permanent.map(({ tool }) => tool) },
});

const textOf = (sections: object): string => JSON.stringify(sections);

test("effects are those since the checkpoint to which a rejection goes back; the others are counted", () => {
  const earlier = { ...EFFECT, action: "act_0", isSince: false };
  const workflow = { ...WORKFLOW, done: [EFFECT, earlier], total: 2, since: 3 };
  const atCheckpoint = textOf(effectsSection(workflow, REJECTING));
  assert.match(atCheckpoint, /What it has done since \\"Plan\\"/);
  assert.match(atCheckpoint, /act_1/);
  assert.doesNotMatch(atCheckpoint, /act_0/);
  assert.match(atCheckpoint, /1 earlier effects: /);
  assert.match(atCheckpoint, /3 more effects since this was asked/);
  const all = { ...workflow, done: [EFFECT, { ...earlier, isSince: true }] };
  assert.match(textOf(effectsSection(all, null)), /before this was asked.*party.*act_1.*act_0/);
});

test("a workflow that it started is listed with its status, and an effect without undo is marked", () => {
  const children = [{ workflow: "wf_2", name: "hotel", status: "open" }];
  const workflow = { ...WORKFLOW, children, done: [{ ...EFFECT, cannotUndo: true }] };
  const text = textOf(effectsSection(workflow, REJECTING));
  assert.match(text, /hotel \(.*wf_2.*a workflow of its own: under way/);
  assert.match(text, /applied; it CANNOT be undone/);
  const child = { tool: "child.tool", action: "act_2" };
  const rejecting = { ...staying({ tool: "room.book", action: "act_1" }, child), isLast: true };
  const lost = textOf(rejectionSections({ workflow, rejecting }));
  assert.match(lost, /room\.book \(act_1\) stays done.*child\.tool \(act_2\) stays done/);
  assert.match(lost, /because not everything can be undone/);
});

const lostBy = (rejecting: NonNullable<Card["rejecting"]>, done: Workflow["done"]): readonly string[] => {
  const sections = rejectionSections({ workflow: { ...WORKFLOW, done }, rejecting });
  const lost = sections["What cannot be undone if you reject"];
  return lost ? (lost as unknown as { lost: { warnings: readonly string[] } }).lost.warnings : [];
};

test("every effect that stays done is listed, also those of children that used the same tool", () => {
  const mail = (action: string) => ({ tool: "mail.send", action });
  const rejecting = staying(mail("act_3"), mail("act_2"), mail("act_1"));
  const done = [{ ...EFFECT, ...mail("act_1"), cannotUndo: true }];
  assert.deepEqual(lostBy(rejecting, done), [
    "mail.send (act_3) stays done",
    "mail.send (act_2) stays done",
    "mail.send (act_1) stays done",
  ]);
  const many = Array.from({ length: 3_000 }, (_, index) => mail(`act_${index}`));
  const lines = lostBy(staying(...many), []);
  assert.deepEqual([lines.length, lines.at(-1)], [101, "2900 more effects stay done"]);
});

test("an effect is only said to stay done once it is known to have happened", () => {
  const final = { ...EFFECT, cannotUndo: true };
  for (const phase of ["running", "in_doubt"]) assert.deepEqual(lostBy(REJECTING, [{ ...final, phase }]), []);
  // Not listed by a checkpoint that a monitor raised.
  assert.deepEqual(lostBy(REJECTING, [final]), ["room.book (act_1) stays done"]);
});

test("what an action undoes is linked if it is an action, and named in full if it is a checkpoint", () => {
  const undoing = (undoes: string): unknown => {
    const action = {
      ...{ id: "act_9", tool: "t", phase: "open", effectClass: "once", args: {}, within: { undoes } },
      ...{ refusal: null, refusedAt: null, effect: null, held: null, outcome: null, rationale: null },
      ...{ argsDigest: "d", executedFrom: "here", proposedAt: 1, review: null, agent: "agent:a" },
    } as unknown as ActionFacts["action"];
    const facts = { action, receipt: undefined, policies: new Map<string, string>() };
    return (actionDocument(facts).sections["What it is known by"] as { undoes: unknown }).undoes;
  };
  assert.deepEqual(undoing("act_1"), [{ id: "act_1" }]);
  assert.equal(undoing("wf_01/1//Plan#1"), "wf_01/1//Plan#1");
});

test("a checkpoint whose name cannot be typed is shown by the id of its snapshot", () => {
  const commands = (tool: string) =>
    workflowCommands({ tool, workflow: "wf_1" } as Approval, { snapshot_id: "snap_1" });
  assert.deepEqual(commands("Plan"), ['show wf_1 --checkpoint "Plan"', "show wf_1"]);
  assert.deepEqual(commands("Plan $(a)"), ["show wf_1 --checkpoint snap_1", "show wf_1"]);
});

test("control characters in the beginning of arguments are left to the renderer, which writes them out once", () => {
  const [section] = Object.values(effectsSection(WORKFLOW, null)) as { effect: { each: unknown[][] } }[];
  assert.equal(section?.effect.each[0]?.at(-1), ', {"room":"A\nB\u202e\\\\n"}');
});

test("changes since the proposal name the path and both values, and say who made them", () => {
  const asked = (args: object, edited: boolean) => ({ args, edited }) as unknown as Approval;
  const changed = changesSection(asked({ to: { amount: 5 }, note: "n" }, true), { to: { amount: 9 } });
  assert.deepEqual(changed, {
    "What people changed since it was proposed": {
      changed: { each: ["to.amount: 9 → 5", 'note: not there → "n"'] },
      more: undefined,
    },
  });
  assert.deepEqual(Object.values(changesSection(asked({}, false), null)), [false]);
});

test("the history says how far it looked", () => {
  const history = { agent: "agent:a", tool: "t", total: 0, applied: 0, refused: 0, inDoubt: 0, latest: [] };
  assert.match(textOf(historySection({ ...history, isAll: true })), /never/);
  assert.match(textOf(historySection({ ...history, isAll: false })), /not among the latest actions/);
});
