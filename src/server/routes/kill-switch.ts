/** The kill switch of the tenant, or of one agent. */
import { z } from "zod";
import type { SwitchState } from "../../core/switch.ts";
import { getSwitch, setSwitch } from "../../engine/operate.ts";
import { personOf } from "../person.ts";
import { ok, route } from "../route.ts";
import { bySchema, reasonSchema, time, timeSchema } from "../wire.ts";

const agentSchema = z.string().min(1).max(200).optional();
const standing = z.object({
  stopped: z.boolean(),
  agent: z.string().nullable(),
  by: z.string().nullable(),
  reason: z.string().nullable(),
  at: timeSchema.nullable(),
});
const word = z.strictObject({ reason: reasonSchema, by: bySchema, agent: agentSchema });

function onWire(state: SwitchState, agent: string | undefined) {
  const who = { agent: agent ?? null };
  if (!state.stopped) return { stopped: false, ...who, by: null, reason: null, at: null };
  return { stopped: true, ...who, by: state.by, reason: state.reason, at: time(state.at) };
}

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
      const { agent, reason } = body;
      const by = personOf(who, body.by);
      const changed = await setSwitch(runtime, stop, {
        ...{ by, reason, via: who.via },
        ...(agent === undefined ? {} : { agent }),
      });
      return ok({ ...onWire(await getSwitch(runtime, agent), agent), changed });
    },
  });
}

export const killSwitchRoutes = [
  route({
    method: "GET",
    path: "/api/kill-switch",
    summary: "Whether new effects of the tenant, or of one agent, are stopped",
    tag: "kill switch",
    scope: "switch:read",
    query: z.strictObject({ agent: agentSchema }),
    answers: { 200: standing },
    handle: async ({ runtime, query }) => ok(onWire(await getSwitch(runtime, query.agent), query.agent)),
  }),
  turning("/api/kill-switch/stop", true, "Stop every new effect of the tenant, or of one agent"),
  turning("/api/kill-switch/release", false, "Let effects start again"),
];
