/** A remote instance: the verbs that the command line uses, called on a server. */
import { z } from "zod";
import { type ReadCard, readCardSchema } from "../../approvals/card-schema.ts";
import { type Approvals, approvals } from "../../approvals/contract.ts";
import { CONTRACTS } from "../../contracts.ts";
import { actorIn, makeCodec } from "../../kernel/codec.ts";
import {
  type Contract,
  clientCall,
  itemsField,
  type Library,
  parseArguments,
  pathNames,
  type VerbContract,
} from "../../kernel/contract.ts";
import { viewerIn } from "../../kernel/values.ts";
import { killSwitch, withNames } from "../../kill-switch/contract.ts";
import { journal } from "../../runtime/contract.ts";
import { workflows } from "../../workflows/contract.ts";
import type { Instance } from "../shell/command.ts";
import { CommandError } from "../shell/failure.ts";
import { fromClientError, type RemoteActor, relay } from "./relay.ts";
import { remoteJournal, remoteWorkflows } from "./work.ts";

type Call = (...args: readonly unknown[]) => Promise<Readonly<Record<string, unknown>>>;
type Calls = { readonly [resource: string]: { readonly [verb: string]: Call } };

/** A list's items are under the contract's name. The cursor is the server's own and passed back unchanged. */
function answerReader(contract: Contract, facts: VerbContract) {
  const { output, item, wrap } = facts;
  if (item !== undefined) {
    const field = itemsField(contract, facts);
    const { decode } = makeCodec(z.array(item));
    return (answer: Readonly<Record<string, unknown>>) => ({
      items: decode(answer[field]),
      next: answer["next_cursor"],
    });
  }
  const { decode } = makeCodec(output);
  return (answer: Readonly<Record<string, unknown>>) => decode(wrap === undefined ? answer : answer[wrap]);
}

/** Omits the actor and the viewer if the credential determines them. */
function inputWriter({ principal }: RemoteActor, { input, item, shares }: VerbContract) {
  const encode = input === undefined ? () => ({}) : makeCodec(input).encode;
  const { as: actor = "by" } = actorIn(input) ?? {};
  const viewer = viewerIn(input) ?? "";
  return (given: Readonly<Record<string, unknown>>): object => {
    const { after, [actor]: by, [viewer]: reader, ...rest } = encode(given) as Record<string, unknown>;
    return {
      ...(shares === undefined ? {} : { [shares.field]: shares.value }),
      ...rest,
      ...(by === undefined || principal !== null ? {} : { [actor]: by }),
      ...(reader === undefined || principal !== null ? {} : { [viewer]: reader }),
      ...(after === undefined ? {} : { [item === undefined ? "after" : "cursor"]: after }),
    };
  };
}

function remoteVerbs<One extends Contract>(speaker: RemoteActor, contract: One): Library<One> {
  const calls = (speaker.client as unknown as Calls)[contract.resource ?? contract.name] ?? {};
  const methods = Object.entries(contract.verbs).map(([name, facts]) => {
    const call = calls[clientCall(name, facts)];
    return [
      name,
      async (...args: readonly unknown[]) => {
        const given = parseArguments(contract, facts, args);
        const write = inputWriter(speaker, facts);
        const read = answerReader(contract, facts);
        const ids = pathNames(facts.http).map((one) => given[one]);
        const input = facts.input === undefined ? [] : [write(given)];
        return relay(async () => read((await call?.(...ids, ...input)) ?? {}));
      },
    ];
  });
  return Object.fromEntries(methods) as Library<One>;
}

/** Yields an empty turn as soon as the stream is open: a caller that reads from then on misses no later change. */
async function* followApprovals(
  { client }: RemoteActor,
  signal: AbortSignal,
): AsyncGenerator<readonly string[]> {
  const opened = Promise.withResolvers<void>();
  const over = new AbortController();
  const stop = AbortSignal.any([signal, over.signal]);
  const events = client.events({ streams: ["approval"], onOpen: () => opened.resolve() }, stop);
  try {
    let next = events.next();
    await Promise.race([opened.promise, next]);
    yield [];
    for (let event = await next; event.done !== true; event = await next) {
      next = events.next();
      yield [event.value.stream.replace(/^approval\//, "")];
    }
  } catch (error) {
    throw fromClientError(error);
  } finally {
    over.abort();
  }
}

type CardParts = Partial<ReadCard["card"]>;
type Rejecting = NonNullable<CardParts["rejecting"]>;

/** An older server leaves fields out. Its workflow has what a person needs of them. */
async function completeCard(speaker: RemoteActor, { approval, card }: ReadCard): Promise<ReadCard> {
  const { sections, workflow, rejecting }: CardParts = card;
  if (sections !== undefined) return { approval, card };
  if (!workflow) return { approval, card: { ...card, sections: [] } };
  const { attempts, pending } = await remoteVerbs(speaker, workflows).at(workflow.workflow);
  const permanent = pending?.approval === approval.id ? pending.irreversible : [];
  const final = new Set(permanent.map(({ action }) => action));
  const done = workflow.done.map((one) => ({ ...one, isSince: true, cannotUndo: final.has(one.action) }));
  return {
    approval,
    card: {
      ...{ ...card, sections: [], workflow: { ...workflow, done, attempts, children: [] } },
      rejecting: rejecting ? ({ ...rejecting, permanent } as Rejecting) : null,
    },
  };
}

const remoteApprovals = (speaker: RemoteActor): Approvals => ({
  ...remoteVerbs(speaker, approvals),
  async card(id) {
    const answer = await relay(() => speaker.client.approvals.card(id));
    return completeCard(speaker, makeCodec(readCardSchema).decode(answer) as ReadCard);
  },
  follow: (signal) => followApprovals(speaker, signal),
});

export function onlyHere(what: string, why = "it works on the store itself"): CommandError {
  return new CommandError(
    "usage",
    `\`${what}\` is not done at a distance: ${why}.`,
    "Run it where the store is, with --data <folder> or --database <url>.",
  );
}

const isName = (name: string | symbol): name is string => typeof name === "string" && name !== "then";

/** A missing verb is rejected when it is called. */
function guarded<Verbs extends object>(path: string, verbs: Verbs): Verbs {
  return new Proxy(verbs, {
    get(target, name) {
      if (name in target || !isName(name)) return Reflect.get(target, name);
      return () => Promise.reject(onlyHere(`${path}${name}`));
    },
  });
}

export function remoteHoldpoint(speaker: RemoteActor): Instance {
  const groups = {
    ...Object.fromEntries(CONTRACTS.map((one) => [one.name, remoteVerbs(speaker, one as Contract)])),
    approvals: remoteApprovals(speaker),
    workflows: remoteWorkflows(speaker, remoteVerbs(speaker, workflows)),
    journal: remoteJournal(speaker, remoteVerbs(speaker, journal)),
    seals: {},
  };
  const known = Object.entries(groups).map(([name, verbs]) => [name, guarded(`${name}.`, verbs)] as const);
  const all = {
    ...Object.fromEntries(known),
    ...withNames(remoteVerbs(speaker, killSwitch)),
    close: async () => undefined,
  };
  return guarded("", all) as unknown as Instance;
}
