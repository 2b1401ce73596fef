/** Policies: which were in force, and since when. */
import { z } from "zod";
import { getPolicy, type ListedVersion, listPolicies } from "../../engine/backtest/kept-policies.ts";
import { policyYaml } from "../../engine/policy/policy-yaml.ts";
import { ok, route } from "../route.ts";
import { idSchema, json, time, timeOrNull, timeSchema } from "../wire.ts";

const versionSchema = z.object({
  name: z.string(),
  digest: z.string(),
  since: timeSchema,
  until: timeSchema.nullable().meta({ description: "null while it is in force, and where nobody knows" }),
  standing: z
    .enum(["used", "ended", "unused"])
    .meta({ description: "used while a program judges by it, ended when one did" }),
  by: z.string(),
  source: z.string(),
});

function versionOnWire({ name, digest, at, until, standing, by, source }: ListedVersion) {
  return { name, digest, since: time(at), until: timeOrNull(until), standing, by, source };
}

export const policyRoutes = [
  route({
    method: "GET",
    path: "/api/policies",
    summary: "Every version that was put in force, oldest first by policy",
    tag: "policies",
    scope: "policies:read",
    answers: { 200: z.object({ policies: z.array(versionSchema) }) },
    handle: async ({ runtime }) => ok({ policies: (await listPolicies(runtime)).map(versionOnWire) }),
  }),
  route({
    method: "GET",
    path: "/api/policies/{name}",
    summary: "A policy's document: the version put in force last, or by digest or its beginning that one",
    tag: "policies",
    scope: "policies:read",
    params: z.object({ name: idSchema }),
    answers: {
      200: versionSchema.extend({
        document: json,
        text: z.string().meta({ description: "the document as YAML, as people would write it" }),
      }),
    },
    async handle({ runtime, params }) {
      const { document, ...version } = await getPolicy(runtime, params.name);
      return ok({ ...versionOnWire(version), document, text: policyYaml(document) });
    },
  }),
];
