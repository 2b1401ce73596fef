/**
 * A workflow's own policy over the calls it makes and over what undoes them: it can only be stricter than the tool's.
 * An undo is subject to every policy that judged the effect itself.
 */

import { checkFrame, insideSync } from "../effects/call-context.ts";
import { type Policy, verdictIn } from "../effects/define-tool.ts";
import type { Tool } from "../effects/tool.ts";
import { digestOf } from "../kernel/canonical-json.ts";
import { workflowStream } from "../kernel/stream.ts";
import { applyPolicy, overlayPolicy } from "../policy/apply-to-tool.ts";
import { stricterVerdict, withNotesOf } from "../policy/rules/combine-verdicts.ts";
import type { Verdict } from "../policy/rules/verdict.ts";
import { ignoreRejection } from "../runtime/concurrency.ts";
import { handlesIn } from "../runtime/secrets.ts";
import { readState } from "../runtime/store-access.ts";
import type { Definition, Limits } from "./definition.ts";
import type { WorkflowRun } from "./run/run.ts";

/** On a tie the tool's verdict wins, unless it approves without a reason. If both escalate, the workflow asks first. */
function combineWithTool(own: Verdict, workflow: Verdict): Verdict {
  if (own.verdict === "approve" && workflow.verdict === "approve" && own.reason === undefined)
    return withNotesOf(workflow, own);
  return own.verdict === "escalate" ? stricterVerdict(workflow, own) : stricterVerdict(own, workflow);
}

export function underWorkflowPolicy(tool: Tool, policy: Policy<never> | undefined): Tool {
  if (policy === undefined) return tool;
  const source = typeof policy === "function" ? policy.toString() : policy;
  const { name } = tool.rules;
  const judge = <Said>(work: () => Said) => insideSync(checkFrame(null, name, "policy"), work);
  const rules = overlayPolicy(tool.rules, {
    digest: (own) => digestOf([own, source]),
    policy: (own) => (input) => {
      const handles = handlesIn(input.args);
      const said =
        typeof policy === "function" ? judge(() => ignoreRejection(policy(input as never))) : policy;
      return combineWithTool(own(input), verdictIn(said, "the policy of the workflow", handles));
    },
  });
  return { ...tool, rules };
}

/** The engine's own limits, checked after the policy: a policy that blocks comes first. */
export function underLimits(tool: Tool, limits: Limits | undefined): Tool {
  if (limits === undefined) return tool;
  const rules = overlayPolicy(tool.rules, {
    digest: (own) => digestOf([own, limits.digest]),
    policy: (own) => {
      const guard = limits.guard();
      return (input) => guard(input, own(input));
    },
  });
  return { ...tool, rules };
}

/** If a run brings its own policy, that policy decides about tools for which no other decider is set. */
function decidedByOwnPolicy(tool: Tool, { isOfOneRun, options, document }: Definition): Tool {
  const isLeft = isOfOneRun === true && (options.policy ?? document) !== undefined;
  if (!tool.isUndecided || !isLeft) return tool;
  return { ...tool, rules: { ...tool.rules, policy: () => ({ verdict: "approve" }) } };
}

/** Applies everything that a definition says about its calls. */
export function underDefinition(tool: Tool, definition: Definition): Tool {
  const { options, document, limits } = definition;
  const own = underWorkflowPolicy(decidedByOwnPolicy(tool, definition), options.policy);
  return underLimits(document === undefined ? own : applyPolicy(own, "policy", document), limits);
}

const underUnknownPolicy = (tool: Tool, name: string): Tool => {
  const reason = `the policy of the workflow "${name}" holds here too, and is not known to this process`;
  return underWorkflowPolicy(tool, { verdict: "escalate", reason });
};

type RunScope = Pick<WorkflowRun, "state" | "definition">;

/** Adds the policies of its ancestors. If one is unknown here, it might have refused: people are asked. */
export function underPoliciesAbove(tool: Tool, { state, definition }: RunScope): Tool {
  return (state.policies ?? []).reduce((under, name) => {
    const above = definition.beside.get(name);
    return above === undefined
      ? underUnknownPolicy(under, name)
      : underWorkflowPolicy(under, above.options.policy);
  }, tool);
}

/** An undo is subject to the call's policies. Limits do not apply: they must not prevent an undo. */
function undoUnderPolicy(undo: Tool, above: RunScope): Tool {
  const { options, document } = above.definition;
  const own = underWorkflowPolicy(undo, options.policy);
  return underPoliciesAbove(document === undefined ? own : applyPolicy(own, "undo", document), above);
}

/** The same for a call of a workflow whose definition is unknown here. */
function undoUnderUnknownPolicy(undo: Tool, above: RunScope): Tool {
  return underPoliciesAbove(underUnknownPolicy(undo, above.state.name), above);
}

/** `op`: the operation whose effect is undone, of this workflow or of one below it. */
export async function undoUnderAllPolicies(run: WorkflowRun, op: string, undo: Tool): Promise<Tool> {
  const { definition } = run;
  const id = op.slice(0, op.indexOf("/"));
  if (id === run.id) return undoUnderPolicy(undo, run);
  const state = await readState(run.runtime, workflowStream(id));
  if (state.status === "none") return undo;
  const below = definition.beside.get(state.name);
  if (below === undefined) return undoUnderUnknownPolicy(undo, { state, definition });
  return undoUnderPolicy(undo, { state, definition: below });
}
