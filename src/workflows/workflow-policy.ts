/**
 * A workflow's own policy over the calls it makes and over what undoes them: it can only be stricter than the tool's.
 * An undo is under every policy that was asked about the effect itself.
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

/** Of two of a kind the tool's own, unless only the other says why it lets it through. People are asked by the workflow first. */
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

/** What the engine itself limits; a policy that blocks has said so first. */
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

/** Of a run that brings its own policy, that one decides about tools of which nobody else has said who does. */
function decidedByOwnPolicy(tool: Tool, { isOfOneRun, options, document }: Definition): Tool {
  const isLeft = isOfOneRun === true && (options.policy ?? document) !== undefined;
  if (!tool.isUndecided || !isLeft) return tool;
  return { ...tool, rules: { ...tool.rules, policy: () => ({ verdict: "approve" }) } };
}

/** Under everything that a definition has to say of its calls. */
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

/** Under the policies of the workflows above it too. One that is not known here might have said no: people are asked. */
export function underPoliciesAbove(tool: Tool, { state, definition }: RunScope): Tool {
  return (state.policies ?? []).reduce((under, name) => {
    const above = definition.beside.get(name);
    return above === undefined
      ? underUnknownPolicy(under, name)
      : underWorkflowPolicy(under, above.options.policy);
  }, tool);
}

/** What undoes a call, under whatever is asked about the call; only limits do not keep anybody from taking it back. */
function undoUnderPolicy(undo: Tool, above: RunScope): Tool {
  const { options, document } = above.definition;
  const own = underWorkflowPolicy(undo, options.policy);
  return underPoliciesAbove(document === undefined ? own : applyPolicy(own, "undo", document), above);
}

/** The same for the call of a workflow whose definition is not known here. */
function undoUnderUnknownPolicy(undo: Tool, above: RunScope): Tool {
  return underPoliciesAbove(underUnknownPolicy(undo, above.state.name), above);
}

/** `op`: the operation whose effect it was, of this workflow or of one below it. */
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
