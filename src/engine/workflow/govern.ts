/** A workflow's own policy over the calls it makes, and over what undoes them: it can only be stricter than the tool's. */

import { checkFrame, insideSync } from "../../effects/call-context.ts";
import { type Policy, verdictIn } from "../../effects/define-tool.ts";
import type { Tool } from "../../effects/tool.ts";
import { digestOf } from "../../kernel/canonical-json.ts";
import { applyPolicy, overlayPolicy } from "../../policy/apply-to-tool.ts";
import { stricterVerdict, withNotesOf } from "../../policy/rules/combine-verdicts.ts";
import type { Verdict } from "../../policy/rules/verdict.ts";
import { ignoreRejection } from "../../runtime/concurrency.ts";
import { handlesIn } from "../../runtime/secrets.ts";

import type { Definition, Limits } from "./definition.ts";
import type { Run } from "./run.ts";

/** Of two of a kind the tool's own, unless only the other says why it lets it through. People are asked by the workflow first. */
function ofBoth(own: Verdict, workflow: Verdict): Verdict {
  if (own.verdict === "approve" && workflow.verdict === "approve" && own.reason === undefined)
    return withNotesOf(workflow, own);
  return own.verdict === "escalate" ? stricterVerdict(workflow, own) : stricterVerdict(own, workflow);
}

export function governed(tool: Tool, policy: Policy<never> | undefined): Tool {
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
      return ofBoth(own(input), verdictIn(said, "the policy of the workflow", handles));
    },
  });
  return { ...tool, rules };
}

/** What the engine itself limits; a policy that blocks has said so first. */
export function limited(tool: Tool, limits: Limits | undefined): Tool {
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
function decided(tool: Tool, { isOfOneRun, options, document }: Definition): Tool {
  const isLeft = isOfOneRun === true && (options.policy ?? document) !== undefined;
  if (!tool.isUndecided || !isLeft) return tool;
  return { ...tool, rules: { ...tool.rules, policy: () => ({ verdict: "approve" }) } };
}

/** Under everything that a definition has to say of its calls. */
export function underDefinition(tool: Tool, definition: Definition): Tool {
  const { options, document, limits } = definition;
  const own = governed(decided(tool, definition), options.policy);
  return limited(document === undefined ? own : applyPolicy(own, "policy", document), limits);
}

const unknownHere = (tool: Tool, name: string): Tool => {
  const reason = `the policy of the workflow "${name}" holds here too, and is not known to this process`;
  return governed(tool, { verdict: "escalate", reason });
};

type Above = Pick<Run, "state" | "definition">;

/** Under the policies of the workflows above it too. One that is not known here might have said no: people are asked. */
export function governedFromAbove(tool: Tool, { state, definition }: Above): Tool {
  return (state.policies ?? []).reduce((under, name) => {
    const above = definition.beside.get(name);
    return above === undefined ? unknownHere(under, name) : governed(under, above.options.policy);
  }, tool);
}

/** What undoes a call, under whatever is asked about the call; only limits do not keep anybody from taking it back. */
export function governUndo(undo: Tool, above: Above): Tool {
  const { options, document } = above.definition;
  const own = governed(undo, options.policy);
  return governedFromAbove(document === undefined ? own : applyPolicy(own, "undo", document), above);
}

/** The same for the call of a workflow whose definition is not known here. */
export function governUndoUnknown(undo: Tool, above: Above): Tool {
  return governedFromAbove(unknownHere(undo, above.state.name), above);
}
