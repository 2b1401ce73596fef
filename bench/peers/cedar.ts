/** Cedar, compiled to WebAssembly, with its policies parsed beforehand. It answers allow or deny, and has no other verdicts. */
import { preparsePolicySet, statefulIsAuthorized } from "@cedar-policy/cedar-wasm/nodejs";
import type { JsonObject } from "../../src/kernel/json.ts";
import { checkSame, SAME_ACTIONS, sameRules } from "../same-rules.ts";
import { type Load, now, type OpenSystem } from "../system.ts";

const callOf = (args: JsonObject) => ({
  principal: { type: "Agent", id: "bench" },
  action: { type: "Action", id: "refund" },
  resource: { type: "Tool", id: "refund" },
  context: args,
  preparsedPolicySetId: "bench",
  entities: [],
});

function isAllowed(call: ReturnType<typeof callOf>): boolean {
  const answer = statefulIsAuthorized(call as Parameters<typeof statefulIsAuthorized>[0]);
  if (answer.type !== "success" || answer.response.diagnostics.errors.length > 0)
    throw new Error(JSON.stringify(answer));
  return answer.response.decision === "allow";
}

export const open: OpenSystem = async () => {
  const forbid = sameRules().map(({ id, cedar }) => [
    id,
    `forbid(principal, action, resource) when { ${cedar} };`,
  ]);
  const staticPolicies = Object.fromEntries([...forbid, ["rest", "permit(principal, action, resource);"]]);
  const parsed = preparsePolicySet("bench", { staticPolicies, templates: {}, templateLinks: [] });
  if (parsed.type !== "success") throw new Error(JSON.stringify(parsed));
  checkSame((args) => isAllowed(callOf(args as JsonObject)));
  const calls = SAME_ACTIONS.map(callOf);
  return {
    servers: [],
    durability: "nothing is written",
    run: async (load: Load) => {
      for (let n = 0; !load.isOver(); n++) {
        const began = now();
        isAllowed(calls[n % calls.length] as ReturnType<typeof callOf>);
        load.done(began);
      }
    },
    close: async () => undefined,
  };
};
