/** HTTP routes of the kill switch of the tenant, of one agent or service, or of one workflow. */
import { z } from "zod";
import { actingPerson } from "../api/authenticate.ts";
import { ok, route } from "../api/route.ts";
import {
  bySchema,
  nextCursor,
  pageOf,
  pageQuery,
  reasonSchema,
  sealCursor,
  time,
  timeSchema,
} from "../api/wire.ts";

import { type ActiveStop, getSwitch, type KillSwitchState, listStops, setSwitch } from "./methods.ts";
import type { Stoppable } from "./stream.ts";

const whose = {
  agent: z
    .string()
    .min(1)
    .max(210)
    .optional()
    .meta({ description: "one agent by its name, or agent:<name>; or service:<name>" }),
  workflow_id: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .meta({ description: "one workflow, with those that it began; instead of agent" }),
};
type SwitchTarget = { readonly agent?: string | undefined; readonly workflow_id?: string | undefined };

const standing = z.object({
  paused: z.boolean(),
  agent: z.string().nullable(),
  workflow_id: z.string().nullable(),
  by: z.string().nullable(),
  reason: z.string().nullable(),
  at: timeSchema.nullable(),
});
const word = z.strictObject({ reason: reasonSchema, by: bySchema, ...whose });

const stoppable = ({ agent, workflow_id: workflow }: SwitchTarget): Stoppable => ({
  ...(agent === undefined ? {} : { agent }),
  ...(workflow === undefined ? {} : { workflow }),
});

function onWire(state: KillSwitchState, { agent, workflow_id }: SwitchTarget) {
  const who = { agent: agent ?? null, workflow_id: workflow_id ?? null };
  if (!state.paused) return { paused: false, ...who, by: null, reason: null, at: null };
  return { paused: true, ...who, by: state.by, reason: state.reason, at: time(state.at) };
}

const LIST = "pauses";

const whoseOf = ({ whose: stopped }: ActiveStop): SwitchTarget => {
  if (stopped.what === "tenant") return {};
  return stopped.what === "agent" ? { agent: stopped.agent } : { workflow_id: stopped.workflow };
};

function turning<const Path extends `/${string}`>(path: Path, stop: boolean, summary: string) {
  return route({
    method: "POST",
    path,
    summary,
    tag: "kill switch",
    scope: "switch:write",
    body: word,
    answers: { 200: standing.extend({ changed: z.boolean() }) },
    whenLost: "repeat",
    async handle({ runtime, who, body }) {
      const { reason } = body;
      const by = actingPerson(who, body.by);
      const changed = await setSwitch(runtime, stop, { by, reason, via: who.via, ...stoppable(body) });
      return ok({ ...onWire(await getSwitch(runtime, stoppable(body)), body), changed });
    },
  });
}

export const killSwitchRoutes = [
  route({
    method: "GET",
    path: "/api/kill-switch",
    summary: "Whether new effects of the tenant, of one agent or service, or of one workflow are paused",
    tag: "kill switch",
    scope: "switch:read",
    query: z.strictObject(whose),
    answers: { 200: standing },
    handle: async ({ runtime, query }) => ok(onWire(await getSwitch(runtime, stoppable(query)), query)),
  }),
  route({
    method: "GET",
    path: "/api/kill-switch/pauses",
    summary: "All that is paused: the tenant, agents, services and workflows, the latest first",
    tag: "kill switch",
    scope: "switch:read",
    query: z.strictObject(pageQuery),
    answers: { 200: z.object({ pauses: z.array(standing), next_cursor: nextCursor }) },
    async handle({ runtime, query }) {
      const { items, next } = await listStops(runtime, pageOf(LIST, query));
      const pauses = items.map((stop) => onWire({ paused: true, ...stop }, whoseOf(stop)));
      return ok({ pauses, next_cursor: sealCursor(LIST, next) });
    },
  }),
  turning(
    "/api/kill-switch/pause",
    true,
    "Pause every new effect of the tenant, of one agent or service, or of one workflow",
  ),
  turning("/api/kill-switch/resume", false, "Let effects start again"),
];
