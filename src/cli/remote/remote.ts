/** An instance at a distance: the verbs that the command line uses, asked of a server. */
import { z } from "zod";
import { grants } from "../../grants/contract.ts";
import type { Holdpoint } from "../../index.ts";
import { makeCodec } from "../../kernel/codec.ts";
import {
  type Contract,
  type Library,
  parseArguments,
  pathNames,
  type VerbContract,
} from "../../kernel/contract.ts";
import { CommandError } from "../failure.ts";
import { remoteApprovals } from "./approvals.ts";
import {
  remoteAlerts,
  remoteEndpoints,
  remoteIntents,
  remoteKeys,
  remoteMessages,
  remotePeople,
} from "./office.ts";
import { lookOf, relayed } from "./relay.ts";
import type { Speaker } from "./speaker.ts";
import { remoteTenants } from "./tenants.ts";
import { remoteActions, remoteJournal, remoteReceipts, remoteSwitch, remoteWorkflows } from "./work.ts";

type Call = (...args: readonly unknown[]) => Promise<Readonly<Record<string, unknown>>>;
type Calls = { readonly [resource: string]: { readonly [verb: string]: Call } };

/** A list's items are under the contract's name; its cursor is the server's own and is handed back as it is. */
function answerReader({ name }: Contract, { output, item, wrap }: VerbContract) {
  if (item !== undefined) {
    const { decode } = makeCodec(z.array(item));
    return (answer: Readonly<Record<string, unknown>>) => ({
      items: decode(answer[name]),
      next: answer["next_cursor"],
    });
  }
  const { decode } = makeCodec(output);
  return (answer: Readonly<Record<string, unknown>>) => decode(wrap === undefined ? answer : answer[wrap]);
}

/** The actor is left out where the credential says who it is. */
function inputWriter({ principal }: Speaker, { input, item }: VerbContract) {
  const encode = input === undefined ? () => ({}) : makeCodec(input).encode;
  return (given: Readonly<Record<string, unknown>>): object => {
    const { after, by, ...rest } = encode(given) as Record<string, unknown>;
    return {
      ...rest,
      ...(by === undefined || principal !== null ? {} : { by }),
      ...(after === undefined ? {} : { [item === undefined ? "after" : "cursor"]: after }),
    };
  };
}

export function remoteVerbs<One extends Contract>(speaker: Speaker, contract: One): Library<One> {
  const calls = (speaker.client as unknown as Calls)[contract.name] ?? {};
  const methods = Object.entries(contract.verbs).map(([name, facts]) => {
    const write = inputWriter(speaker, facts);
    const read = answerReader(contract, facts);
    return [
      name,
      async (...args: readonly unknown[]) => {
        const given = parseArguments(contract, facts, args);
        const ids = pathNames(facts.http).map((one) => given[one]);
        const input = facts.input === undefined ? [] : [write(given)];
        return relayed(async () => read((await calls[name]?.(...ids, ...input)) ?? {}));
      },
    ];
  });
  return Object.fromEntries(methods) as Library<One>;
}

export function onlyHere(what: string, why = "it works on the store itself"): CommandError {
  return new CommandError(
    "usage",
    `\`${what}\` is not done at a distance: ${why}.`,
    "Run it where the store is, with --data <folder> or --database <url>.",
  );
}

const isName = (name: string | symbol): name is string => typeof name === "string" && name !== "then";

/** What is not there says so when it is called. */
function guarded<Verbs extends object>(path: string, verbs: Verbs): Verbs {
  return new Proxy(verbs, {
    get(target, name) {
      if (name in target || !isName(name)) return Reflect.get(target, name);
      return () => Promise.reject(onlyHere(`${path}${name}`));
    },
  });
}

function policiesAt(look: ReturnType<typeof lookOf>) {
  return {
    list: () => look("policies.list"),
    versions: () => look("policies.versions"),
    get: (id: string) => look("policies.get", id),
    tools: () => look("policies.tools"),
    told: (action: string) => look("policies.told", action),
  };
}

export function remoteHoldpoint(speaker: Speaker): Holdpoint {
  const look = lookOf(speaker.client);
  const groups = {
    approvals: remoteApprovals(speaker, look),
    actions: remoteActions(speaker, look),
    receipts: remoteReceipts(speaker, look),
    workflows: remoteWorkflows(speaker, look),
    journal: remoteJournal(speaker, look),
    grants: remoteVerbs(speaker, grants),
    alerts: remoteAlerts(speaker, look),
    intents: remoteIntents(speaker, look),
    people: remotePeople(speaker, look),
    keys: remoteKeys(speaker, look),
    tenants: remoteTenants(speaker),
    endpoints: remoteEndpoints(speaker, look),
    messages: remoteMessages(speaker, look),
    policies: policiesAt(look),
    nodes: { list: (page: object = {}) => look("nodes.list", page) },
    budgets: {
      list: (page: object = {}) => look("budgets.list", page),
      get: (id: string) => look("budgets.get", id),
    },
  };
  const known = Object.entries(groups).map(([name, verbs]) => [name, guarded(`${name}.`, verbs)] as const);
  const all = { ...Object.fromEntries(known), ...remoteSwitch(speaker, look), close: async () => undefined };
  return guarded("", all) as unknown as Holdpoint;
}
