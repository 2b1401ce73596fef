/**
 * The reading methods of the library over HTTP; the command line uses them against a server.
 * Each needs the scope of its resource's routes, or of the data it returns. None changes anything.
 */
import { z } from "zod";
import { HoldpointError } from "../kernel/errors.ts";
import { parseJson } from "../kernel/json.ts";
import type { Scope } from "../people/rules/scopes.ts";
import { nodesOf } from "../runtime/epochs.ts";
import { journalOf } from "../runtime/journal.ts";
import type { RuntimeOpener } from "../runtime/runtime.ts";
import { writeMicros } from "./micros-json.ts";
import { ok, route } from "./route.ts";
import type { TenantHost } from "./tenant-hosts.ts";
import { json } from "./wire.ts";

type Verb = (...args: never[]) => Promise<unknown>;
type Group<Names extends string> = { readonly [Name in Names]: Verb };

const READS = {
  journal: { scope: "journal:read", verbs: ["read"] },
  nodes: { scope: "journal:read", verbs: ["list"] },
} as const satisfies {
  readonly [group: string]: { readonly scope: Scope; readonly verbs: readonly string[] };
};

type Reads = typeof READS;
type Groups = { readonly [Name in keyof Reads]: Group<Reads[Name]["verbs"][number]> };
export type LibraryVerb = {
  [Name in keyof Reads]: `${Name}.${Reads[Name]["verbs"][number]}`;
}[keyof Reads];

export const LIBRARY_VERBS: readonly LibraryVerb[] = Object.entries(READS).flatMap(([group, { verbs }]) =>
  verbs.map((verb) => `${group}.${verb}` as LibraryVerb),
);

const groupOf = (verb: LibraryVerb): keyof Reads => verb.split(".")[0] as keyof Reads;
export const scopeOfVerb = (verb: LibraryVerb): Scope => READS[groupOf(verb)].scope;

/** Every verb validates its input, as it does for a program. */
function groupsOf({ runtime }: TenantHost): Groups {
  // No reading verb closes the runtime.
  const open = async () => runtime as Awaited<ReturnType<RuntimeOpener>>;
  return {
    journal: journalOf(open),
    nodes: nodesOf(open),
  };
}

async function askLibrary(office: TenantHost, verb: LibraryVerb, args: readonly unknown[]): Promise<unknown> {
  const [group, name] = verb.split(".") as [keyof Reads, string];
  const verbs = groupsOf(office)[group] as { readonly [name: string]: Verb };
  return verbs[name]?.(...(args as never[]));
}

const MOST_ARGS = 4;
const ARGS = "args is a list of at most four values, in JSON.";

function argsOf(text: string): readonly unknown[] {
  const args = parseJson(text);
  if (!Array.isArray(args) || args.length > MOST_ARGS) throw new HoldpointError("invalid_input", ARGS);
  // JSON has no undefined: an omitted argument is null.
  return args.map((value) => value ?? undefined);
}

export const libraryRoutes = [
  route({
    method: "GET",
    path: "/api/library",
    summary: "What a reading verb of the library answers, as it answers a program",
    description:
      "For the command line, which shows the same at a distance. Names are the library's; each verb needs the scope of what it reads.",
    tag: "server",
    scope: "any",
    query: z.strictObject({
      verb: z.enum(LIBRARY_VERBS),
      args: z.string().max(10_000).default("[]").meta({ description: "a list, in JSON" }),
    }),
    answers: { 200: z.object({ answer: json.optional() }) },
    async handle({ office, who, query: { verb, args } }) {
      const scope = scopeOfVerb(verb);
      if (!who.can(scope)) throw new HoldpointError("forbidden", `This needs the scope ${scope}.`);
      const answer = await askLibrary(office, verb, argsOf(args));
      const text = JSON.stringify({ answer }, writeMicros);
      return ok(JSON.parse(text));
    },
  }),
];
