/** The reading verbs of the library over HTTP. */
import { z } from "zod";
import { HoldpointError } from "../../kernel/errors.ts";
import { parseJson } from "../../kernel/json.ts";

import { askLibrary, LIBRARY_VERBS, scopeOfVerb } from "../library.ts";
import { microsWritten } from "../micros-json.ts";
import { ok, route } from "../route.ts";
import { json } from "../wire.ts";

const MOST_ARGS = 4;
const ARGS = "args is a list of at most four values, in JSON.";

function argsOf(text: string): readonly unknown[] {
  const args = parseJson(text);
  if (!Array.isArray(args) || args.length > MOST_ARGS) throw new HoldpointError("invalid_input", ARGS);
  // JSON knows no undefined: what was left out is null.
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
      const text = JSON.stringify({ answer }, microsWritten);
      return ok(JSON.parse(text));
    },
  }),
];
