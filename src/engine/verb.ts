/**
 * What a capability does, bound to its contract. A verb has one of three forms:
 *
 * - `decide`: a pure rule in the store's transaction, and what to answer of its decision;
 * - `read`: reads states and lists, writes nothing;
 * - `run`: anything else that waits. Each is listed by `npm run check`, so that it stays the exception.
 */
import type { z } from "zod";
import type { Draft, Need } from "../core/draft.ts";
import { HoldpointError } from "../core/errors.ts";
import type { Via } from "../core/via.ts";
import { type Contract, type Library, parseArguments, type VerbContract } from "../kernel/contract.ts";
import { runCommand } from "./run-command.ts";
import type { Opening, Runtime } from "./runtime.ts";

/** `via`: the channel through which the actor authenticated, where one says so. */
type VerbContext = { readonly runtime: Runtime; readonly how: Via };

type PathFields<Http extends string> = Http extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [Field in Name]: string } & PathFields<Rest>
  : unknown;
/** The names in the path and the fields of the input, as its schema read them. */
type VerbInput<One extends VerbContract> = PathFields<One["http"]> &
  (One["input"] extends z.ZodType ? z.output<One["input"]> : unknown);
type Output<One extends VerbContract> = z.output<One["output"]>;

type Form = "decide" | "read" | "run";
type Bound<In, Out> = { readonly form: Form; perform(context: VerbContext, input: In): Promise<Out> };
type Bindings<One extends Contract> = {
  readonly [Name in keyof One["verbs"]]: Bound<VerbInput<One["verbs"][Name]>, Output<One["verbs"][Name]>>;
};

/** A contract with what each of its verbs does. */
export type Capability<One extends Contract = Contract> = {
  readonly contract: One;
  readonly verbs: Bindings<One>;
};

export function capability<One extends Contract>(contract: One, verbs: Bindings<One>): Capability<One> {
  return { contract, verbs };
}

export const readVerb = <In, Out>(
  perform: (runtime: Runtime, input: In) => Promise<Out>,
): Bound<In, Out> => ({
  form: "read",
  perform: ({ runtime }, input) => perform(runtime, input),
});

export const runVerb = <In, Out>(
  perform: (context: VerbContext, input: In) => Promise<Out>,
): Bound<In, Out> => ({
  form: "run",
  perform,
});

/** `answer` gets the rule's decision after its commit: it throws what the caller is refused, or reads what it is answered. */
export const decideVerb = <In, Decision, Out>(
  rule: (draft: Draft, input: In, how: Via) => Need | Decision,
  answer: (runtime: Runtime, decision: Exclude<Decision, Need>, input: In) => Promise<Out>,
): Bound<In, Out> => ({
  form: "decide",
  async perform({ runtime, how }, input) {
    const decision = await runCommand(runtime, {}, (draft) => rule(draft, input, how));
    return answer(runtime, decision, input);
  },
});

type Perform = (context: VerbContext, input: unknown) => Promise<unknown>;
export const performVerb = ({ verbs }: Capability, name: string): Perform =>
  verbs[name as keyof typeof verbs]?.perform as unknown as Perform;

/** The library's methods. Input is checked at the call, before the store is opened. */
export function bindLibrary<One extends Contract>(open: Opening, one: Capability<One>): Library<One> {
  const { contract } = one;
  const methods = Object.entries(contract.verbs).map(([name, facts]) => [
    name,
    async (...args: readonly unknown[]) => {
      const input = parseArguments(contract, facts, args);
      return performVerb(one as unknown as Capability, name)({ runtime: await open(), how: {} }, input);
    },
  ]);
  return Object.fromEntries(methods) as Library<One>;
}

/** The rule refused the actor. */
export const notEligible = (reason: string): HoldpointError =>
  new HoldpointError("not_eligible", `Nothing was changed: ${reason}.`, {
    data: "Nothing was written.",
    next: "Ask a person in good standing.",
  });
