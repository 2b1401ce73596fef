import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { z } from "zod";
import {
  contract,
  findVerb,
  listVerb,
  nounFor,
  parseArguments,
  plainVerb,
  scopeFor,
  verb,
} from "./contract.ts";
import { moneyAmount } from "./values.ts";

const said = z.strictObject({
  reason: z.string().min(1),
  uses: z.int({ error: "It has uses." }).optional(),
  parts: z.array(z.strictObject({ price: moneyAmount.nullable() })).optional(),
});
const things = contract({
  name: "approvals",
  owner: "approval",
  verbs: {
    list: listVerb({
      http: "GET /api/t",
      summary: "",
      filters: { tool: z.string().optional() },
      item: z.string(),
    }),
    get: plainVerb({ http: "GET /api/t/{id}", summary: "", output: z.string() }),
    end: verb({ http: "POST /api/t/{id}/end", summary: "", input: said, output: z.string() }),
    find: findVerb({ http: "GET /api/t/find" }),
  },
});
const { list, get, end, find } = things.verbs;
const invalid = (text: RegExp) => ({ code: "invalid_input", message: text });

test("arguments are the names in the path, then one input object, or a positional field", () => {
  assert.deepEqual(parseArguments(things, get, ["a"]), { id: "a" });
  assert.deepEqual(parseArguments(things, end, ["a", { reason: "r" }]), { id: "a", reason: "r" });
  assert.deepEqual(parseArguments(things, find, ["apr_"]), { beginning: "apr_" });
  assert.deepEqual(parseArguments(things, list, []), {});
  assert.deepEqual(parseArguments(things, list, [{ limit: 5 }]), { limit: 5 });
});

test("a positional field comes before the other fields of the input", () => {
  const all = verb({
    http: "POST /api/t/all",
    summary: "",
    positional: "ids",
    input: z.strictObject({ ids: z.array(z.string()), by: z.string() }),
    output: z.string(),
  });
  assert.deepEqual(parseArguments(things, all, [["a"], { by: "b" }]), { ids: ["a"], by: "b" });
  assert.throws(() => parseArguments(things, all, [["a"]]), invalid(/"by"/));
  assert.throws(() => parseArguments(things, list, [null]), invalid(/is an object/));
});

test("wrong arguments are refused with the field, the nearest name and the contract's own sentence", () => {
  for (const [facts, args, text] of [
    [get, [], /An approval is named by a text/],
    [get, [7], /An approval is named by a text/],
    [get, ["x".repeat(601)], /An approval is named by a text/],
    [get, ["\ud800"], /An approval is named by a text/],
    [end, ["a", { reson: "r" }], /./],
    [
      end,
      ["a", { reason: "r", reson: "r" }],
      /has no field "reson" \(did you mean reason\?\); there are reason, uses, parts/,
    ],
    [
      end,
      ["a", { reason: "r", parts: [{ price: { currency: "USD", micros: 1n, microz: 1n } }] }],
      /^"parts\.0\.price" has no field "microz" \(did you mean micros\?\); there are currency, micros\./,
    ],
    [end, ["a", { reason: "" }], /"reason": Too small/],
    [end, ["a", { reason: "r", uses: 1.5 }], /It has uses\./],
    [end, ["a", "words"], /An approval is an object: \{ reason, uses, parts \}/],
    [list, [{ limit: 0 }], /A limit is a whole number from 1 to 1000/],
    [list, [{ limit: 1001 }], /A limit is a whole number/],
    [find, [], /"beginning"/],
    [find, [""], /"beginning"/],
  ] as const)
    assert.throws(() => parseArguments(things, facts, args), invalid(text), inspect(args));
});

test("scopes follow from the name and the method, and nouns have their article", () => {
  assert.equal(scopeFor(things, get), "approvals:read");
  assert.equal(scopeFor({ name: "grants" }, end), "grants:write");
  assert.equal(scopeFor(things, { ...end, scope: "approvals:decide" }), "approvals:decide");
  assert.deepEqual([nounFor("grant"), nounFor("approval")], ["A grant", "An approval"]);
});
