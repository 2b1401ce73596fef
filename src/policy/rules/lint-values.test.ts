import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { compilePolicy } from "./compile.ts";
import type { PolicyText } from "./document.ts";
import type { KnownTool } from "./tools.ts";

const tool = (name: string, properties: KnownTool["schema"]): KnownTool => ({
  name,
  effectClass: "once",
  schema: { type: "object", properties, required: Object.keys(properties ?? {}) },
});
const PAY = tool("pay", {
  currency: { type: "string", enum: ["USD", "EUR", "GBP"] },
  kind: { anyOf: [{ const: "card" }, { const: "wire" }, { type: "null" }] },
  note: { type: "string" },
  either: { anyOf: [{ const: "fixed" }, { type: "string" }] },
  tags: { type: "array", items: { enum: ["urgent", "late"] } },
});
const PAY_OLD = tool("pay_old", { currency: { enum: ["DEM", "USD"] } });

function faults(when: string, tools: readonly KnownTool[] | null, more: object = {}): readonly string[] {
  const rule = { id: "a", verdict: "block", when, ...more };
  const made = compilePolicy(
    { policy: "p", default: "block", rules: [rule] } as unknown as PolicyText,
    tools,
  );
  return made.ok ? [] : made.faults.map(({ message, offset }) => `${offset ?? "-"}: ${message}`);
}
const wrong = (when: string, message: RegExp, tools: readonly KnownTool[] | null = [PAY]) => {
  const found = faults(when, tools, tools === null ? {} : { tool: "pay*" });
  assert.equal(found.length, 1, `${when}: ${found.join("\n")}`);
  assert.match(found[0] ?? "", message);
};
const right = (when: string, tools: readonly KnownTool[] | null = [PAY]) =>
  assert.deepEqual(faults(when, tools, tools === null ? {} : { tool: "pay*" }), [], when);

describe("a text that a value can never be", () => {
  it("is a fault at its place, with the nearest, whether or not any tool is known", () => {
    wrong(
      'risk.level == "hgih"',
      /^14: risk\.level is never "hgih" \(did you mean high\?\); it is one of low, medium, high, critical$/,
      null,
    );
    wrong('"onec" != tool.effect', /^0: tool\.effect is never "onec" \(did you mean once\?\)/, null);
    wrong('risk.level in ["high", "critcal"]', /^23: risk\.level is never "critcal"/, null);
    wrong(
      'history.exists(h, h.status == "aplied")',
      /h\.status is never "aplied" \(did you mean applied/,
      null,
    );
    wrong('risk.level == "High"', /did you mean high\?/, null);
  });

  it("is a fault in the enum of a tool's field", () => {
    wrong('args.currency == "ERU"', /^17: args\.currency is never "ERU" \(did you mean EUR\?\)/);
    wrong(
      'args.kind == "crad"',
      /args\.kind is never "crad" \(did you mean card\?\); it is one of card, wire/,
    );
    wrong('"urgnt" in args.tags', /^0: an item of args\.tags is never "urgnt" \(did you mean urgent\?\)/);
    wrong('args.tags.exists(t, t == "lat")', /t is never "lat"/);
  });

  it("is none where the list is open, or another of the tools has it", () => {
    right('args.note == "ERU" && args.either == "anything" && args.kind == null');
    right('args.currency.lowerAscii() == "eur" && args.currency.startsWith("E") && args.currency < "F"');
    right('args.currency == "DEM"', [PAY, PAY_OLD]);
    wrong('args.currency == "DEMM"', /is never "DEMM"/, [PAY, PAY_OLD]);
    right('args.currency == "XYZ"', [PAY, { name: "pay_new", effectClass: "once", schema: null }]);
    right('args.currency == "XYZ"', null);
    right('"currency" in args');
  });

  it("is a fault where a revision would put it into the arguments", () => {
    const set = (currency: string) =>
      faults("true", [PAY], { verdict: "revise", tool: "pay", set: { currency } });
    assert.deepEqual(set("EUR"), []);
    assert.match(set("EURO").join(), /currency of pay is never "EURO" \(did you mean EUR\?\)/);
  });

  it("of a long list is not followed by all of it", () => {
    const many = Array.from({ length: 40 }, (_, n) => `value-${n}`);
    wrong('args.x == "valeu-7"', /it is one of value-0, .*value-9 and 30 more$/, [
      tool("pay", { x: { enum: many } }),
    ]);
  });
});

it("a field that is nowhere near any other is answered with those that there are", () => {
  wrong('tool.effect_class == "once"', /tool has no field effect_class \(it has: name, effect\)/, null);
});
