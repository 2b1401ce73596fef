/**
 * The implementation of a capability, bound to its contract. A verb has one of three forms:
 *
 * - `decide`: a pure rule in the store's transaction, and how to answer its decision;
 * - `read`: reads states and lists, writes nothing;
 * - `run`: anything else that waits. `npm run check` lists each, so that it stays the exception.
 */
import type { z } from "zod";
import { type Contract, type Library, parseArguments, type VerbContract } from "../kernel/contract.ts";
import { HoldpointError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { channelField, type Via } from "../kernel/principal.ts";
import type { Draft, Need, Needs } from "../kernel/transaction.ts";
import type { CallerRights } from "../people/rules/scopes.ts";
import type { Runtime } from "./runtime.ts";
import { runCommand } from "./store-access.ts";

/** `how.via`: the channel through which the actor authenticated, if known. `caller`: over HTTP. */
export type VerbContext = {
  readonly runtime: Runtime;
  readonly how: Via;
  readonly caller?: CallerRights;
  /** Whether the connection of the caller has closed. */
  readonly isGone?: () => boolean;
};

type PathFields<Http extends string> = Http extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [Field in Name]: string } & PathFields<Rest>
  : unknown;
/** The names in the path and the fields of the input, as parsed by its schema. */
type VerbInput<One extends VerbContract> = PathFields<One["http"]> &
  (One["input"] extends z.ZodType ? z.output<One["input"]> : unknown);

type Form = "decide" | "read" | "run";

type Perform<In, Out> = (context: VerbContext, input: In) => Promise<Out>;
/** What only a server needs to know of a verb. */
type ServerHooks<In, Out> = {
  /** The actor, if the server runs without authentication and the request names none. */
  defaultActor?(runtime: Runtime, id: string): Promise<string>;
  /** Whether the request may put a new question before people. `kept`: the answer kept for a repeated request. */
  mayAsk?(runtime: Runtime, input: Partial<In>, kept?: Json): Promise<boolean>;
  /** How to answer a repeated request if its kept answer may be out of date. */
  again?(kept: Json): Perform<In, Out> | undefined;
};

export type BoundVerb<In, Out> = ServerHooks<In, Out> & {
  readonly form: Form;
  perform(context: VerbContext, input: In): Promise<Out>;
};

type Binding<One extends VerbContract> = BoundVerb<VerbInput<One>, z.output<One["output"]>>;
type Bindings<One extends Contract> = { readonly [Name in keyof One["verbs"]]: Binding<One["verbs"][Name]> };

/** A contract with the implementation of each verb. */
export type Capability<One extends Contract = Contract> = {
  readonly contract: One;
  readonly verbs: Bindings<One>;
};

export function capability<One extends Contract>(contract: One, verbs: Bindings<One>): Capability<One> {
  return { contract, verbs };
}

export const readVerb = <In, Out>(
  perform: (runtime: Runtime, input: In) => Promise<Out>,
): BoundVerb<In, Out> => ({
  form: "read",
  perform: ({ runtime }, input) => perform(runtime, input),
});

export const runVerb = <In, Out>(
  perform: (context: VerbContext, input: In) => Promise<Out>,
): BoundVerb<In, Out> => ({
  form: "run",
  perform,
});

/** `after` runs when the transaction has ended, also after an error. */
type Prepared<In> = { readonly input: In; readonly needs: Needs; readonly after?: () => void };
/** What a rule knows of its caller. `agent`: the principal of the instance. */
type RuleContext = Via & Pick<Runtime, "agent" | "tenant">;

/**
 * `answer` gets the rule's decision after its commit: it throws the caller's refusal, or reads the caller's answer.
 * `prepare` runs before the transaction: what it reads may change before the rule runs, so the rule checks it again.
 */
export const decideVerb = <In, Decision, Out>(
  rule: (draft: Draft, input: In, how: RuleContext) => Need | Decision,
  answer: (runtime: Runtime, decision: Exclude<Decision, Need>, input: In) => Promise<Out> | Out,
  prepare?: (runtime: Runtime, input: In) => Promise<Prepared<In>> | Prepared<In>,
): BoundVerb<In, Out> => ({
  form: "decide",
  async perform({ runtime, how }, given) {
    const unprepared: Prepared<In> = { input: given, needs: {} };
    const { input, needs, after } = prepare === undefined ? unprepared : await prepare(runtime, given);
    const { agent, tenant } = runtime;
    try {
      const decision = await runCommand(runtime, needs, (draft) =>
        rule(draft, input, { ...how, agent, tenant }),
      );
      return await answer(runtime, decision, input);
    } finally {
      after?.();
    }
  },
});

/** A `decide` whose rule gets a command that `prepare` makes of the input, with ids and texts that are known only then. */
export const preparedVerb = <In, Command, Decision, Out>(
  prepare: (runtime: Runtime, input: In, how: Via, caller?: CallerRights) => Promise<Prepared<Command>>,
  rule: (draft: Draft, command: Command) => Need | Decision,
  answer: (runtime: Runtime, decision: Exclude<Decision, Need>, command: Command) => Promise<Out> | Out,
): BoundVerb<In, Out> => ({
  form: "decide",
  async perform({ runtime, how, caller }, given) {
    const { input, needs } = await prepare(runtime, given, how, caller);
    const decision = await runCommand(runtime, needs, (draft) => rule(draft, input));
    return answer(runtime, decision, input);
  },
});

export type AnyBinding = BoundVerb<unknown, unknown>;
export const bindingFor = ({ verbs }: Capability, name: string): AnyBinding =>
  verbs[name as keyof typeof verbs] as unknown as AnyBinding;

/** The library's methods. Input is checked at the call, before the store is opened. */
export function bindLibrary<One extends Contract>(
  open: () => Promise<Runtime>,
  one: Capability<One>,
): Library<One> {
  const { contract } = one;
  const methods = Object.entries(contract.verbs).map(([name, facts]) => [
    name,
    async (...args: readonly unknown[]) => {
      const { via, ...input } = parseArguments(contract, facts, args);
      const how = channelField({ via } as Via);
      return bindingFor(one as unknown as Capability, name).perform({ runtime: await open(), how }, input);
    },
  ]);
  return Object.fromEntries(methods) as Library<One>;
}

/** The error if the rule refused the actor. */
export const notEligible = (reason: string): HoldpointError =>
  new HoldpointError("not_eligible", `Nothing was changed: ${reason}.`, {
    data: "Nothing was written.",
    next: "Ask a person in good standing.",
  });
