/** The verbs of a contract, performed by a server: encoded, sent by the client, and decoded as the library would answer. */
import { z } from "zod";
import { codecOf } from "../../kernel/codec.ts";
import {
  type Contract,
  type Library,
  pathNames,
  readArguments,
  type VerbContract,
} from "../../kernel/contract.ts";
import { relayed } from "./relay.ts";
import type { Speaker } from "./speaker.ts";

type Call = (...args: readonly unknown[]) => Promise<Readonly<Record<string, unknown>>>;
type Calls = { readonly [resource: string]: { readonly [verb: string]: Call } };

/** A list's items are under the contract's name; its cursor is the server's own and is handed back as it is. */
function answerReader({ name }: Contract, { output, item, wrap }: VerbContract) {
  if (item !== undefined) {
    const { decode } = codecOf(z.array(item));
    return (answer: Readonly<Record<string, unknown>>) => ({
      items: decode(answer[name]),
      next: answer["next_cursor"],
    });
  }
  const { decode } = codecOf(output);
  return (answer: Readonly<Record<string, unknown>>) => decode(wrap === undefined ? answer : answer[wrap]);
}

/** The actor is left out where the credential says who it is. */
function inputWriter({ principal }: Speaker, { input, item }: VerbContract) {
  const encode = input === undefined ? () => ({}) : codecOf(input).encode;
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
        const given = readArguments(contract, facts, args);
        const ids = pathNames(facts.http).map((one) => given[one]);
        const input = facts.input === undefined ? [] : [write(given)];
        return relayed(async () => read((await calls[name]?.(...ids, ...input)) ?? {}));
      },
    ];
  });
  return Object.fromEntries(methods) as Library<One>;
}
