/** Verbs of the kill switch, with their routes and schemas. */
import { z } from "zod";
import { contract, type Library, listVerb, verb } from "../kernel/contract.ts";
import { isId } from "../kernel/ids.ts";
import { isPrincipal } from "../kernel/principal.ts";
import { agentScope } from "../kernel/stream.ts";
import { displayValue } from "../kernel/text.ts";
import { actor, channel, id, reason, timestamp } from "../kernel/values.ts";

const BOTH = "The switch is of an agent or of a workflow: one of them, not both.";

const notAn = (what: string) => ({
  error: ({ input }: { readonly input?: unknown }) => `"${displayValue(input)}" is not ${what}.`,
});
const AGENT = notAn("an agent's name");
const WORKFLOW = notAn("a workflow's id: wf_…");

const target = {
  agent: z
    .string(AGENT)
    .min(1, AGENT)
    .max(210, AGENT)
    .refine((name) => !name.startsWith("person:") && isPrincipal(agentScope(name)), AGENT)
    .optional()
    .describe("one agent by its name, or agent:<name>; or service:<name>"),
  workflow: id(
    "workflow",
    z
      .string(WORKFLOW)
      .min(1, WORKFLOW)
      .max(200, WORKFLOW)
      .refine((given) => isId("wf", given), WORKFLOW),
  )
    .optional()
    .describe("one workflow, with those that it started; instead of agent"),
};
const isOne = ({ agent, workflow }: { agent?: unknown; workflow?: unknown }) =>
  agent === undefined || workflow === undefined;
const turn = z.strictObject({ reason, by: actor, via: channel, ...target }).refine(isOne, { error: BOTH });

const paused = z.object({
  paused: z.literal(true),
  by: z.string(),
  reason: z.string(),
  at: timestamp,
});
const state = z.discriminatedUnion("paused", [z.object({ paused: z.literal(false) }), paused]);
/** Both are null for the tenant's own switch. */
const pause = paused.extend({ agent: z.string().nullable(), workflow: id("workflow").nullable() });

const TURN = {
  whenLost: "repeat",
  takes: "said",
  input: turn,
  /** Whether anything changed. */
  output: z.boolean(),
  wrap: "changed",
} as const;

export const killSwitch = contract({
  name: "killSwitch",
  owner: "switch",
  tag: "kill switch",
  scopes: "switch",
  door: "instance",
  verbs: {
    paused: verb({
      http: "GET /api/kill-switch",
      summary:
        "Whether new effects of the tenant, of one agent or service, or of one workflow are paused, by whom and why",
      takes: "whose",
      input: z.strictObject(target).refine(isOne, { error: BOTH }),
      output: state,
    }),
    pauses: listVerb({
      http: "GET /api/kill-switch/pauses",
      summary: "All that is paused: the tenant, agents, services and workflows, newest first",
      filters: {},
      item: pause,
      items: "pauses",
    }),
    pause: verb({
      http: "POST /api/kill-switch/pause",
      summary: "Pauses all new effects of the tenant, of one agent or service, or of one workflow",
      ...TURN,
    }),
    resume: verb({
      http: "POST /api/kill-switch/resume",
      summary: "Lets effects start again",
      ...TURN,
    }),
  },
});

type Verbs = Library<typeof killSwitch>;
type Target = NonNullable<Parameters<Verbs["paused"]>[0]>;
export type KillSwitch = Omit<Verbs, "paused"> & {
  /** Whether the tenant, or one agent, service or workflow, is paused, by whom, when and why. */
  paused(whose?: string | Target): Promise<KillSwitchState>;
};
export type KillSwitchState = z.output<typeof state>;
export type Pause = z.output<typeof pause>;

/** The library also takes the name of an agent or a service alone. */
export const withNames = (verbs: Verbs): KillSwitch => ({
  ...verbs,
  paused: (whose) => verbs.paused(typeof whose === "string" ? { agent: whose } : whose),
});
