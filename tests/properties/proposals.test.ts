/** Whatever a model says, it is a proposal that fits its tool or is refused for a reason of the list; nothing throws. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { z } from "zod";
import { schemaRules } from "../../src/effects/arguments.ts";
import { validateProposal } from "../../src/supervise/rules/proposal.ts";
import { isStopReason } from "../fixtures/stop-reasons.ts";
import { runs } from "./runs.ts";

const SCHEMAS: { readonly [name: string]: z.ZodType } = {
  refund: z.object({ user_id: z.int(), amount_usd: z.number(), reason: z.string().optional() }),
  nested: z.object({ to: z.object({ city: z.string() }), tags: z.array(z.string()) }),
  choice: z.object({ pick: z.union([z.string(), z.object({ n: z.number() })]) }),
};
const TOOLS = new Map(
  Object.entries(SCHEMAS).map(([name, schema]) => [name, { name, ...schemaRules(schema, undefined) }]),
);

const key = fc.constantFrom(
  "kind",
  "name",
  "args",
  "answer",
  "user_id",
  "amount_usd",
  "reason",
  "to",
  "city",
  "pick",
  "approved",
);
const leaf = fc.oneof(
  fc.string(),
  fc.double(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.constant(" "),
);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.oneof(key, fc.string()), tie("value"), { maxKeys: 4 }),
  ),
}));
const proposal = fc.record(
  {
    kind: fc.oneof(fc.constantFrom("tool", "final"), value),
    name: fc.oneof(fc.constantFrom(...TOOLS.keys()), value),
    args: fc.oneof(
      fc.record({ user_id: leaf, amount_usd: leaf, reason: leaf }, { requiredKeys: [] }),
      fc.record({ to: value, tags: value }, { requiredKeys: [] }),
      value,
    ),
    answer: value,
  },
  { requiredKeys: [] },
);
const output = fc.oneof(
  fc.string(),
  value.map((any) => JSON.stringify(any) ?? ""),
  proposal.map((any) => JSON.stringify(any)),
  fc
    .tuple(
      proposal.map((any) => JSON.stringify(any)),
      fc.nat(200),
    )
    .map(([text, at]) => text.slice(0, at)),
);

test("an output is a proposal that its tool takes, or invalid for a reason of the list", () => {
  fc.assert(
    fc.property(output, (text) => {
      const valid = validateProposal(text, TOOLS);
      if (!valid.ok) return assert.ok(isStopReason(valid.stop_reason), valid.stop_reason);
      const { proposal: said } = valid;
      if (said.kind === "final") return assert.notEqual(said.answer.trim(), "");
      const schema = SCHEMAS[said.name];
      assert.deepEqual(
        schema?.parse(said.args),
        said.args,
        "nothing in it that the tool would not take as it is",
      );
    }),
    runs(2_000),
  );
});
