/**
 * Verbs of endpoints and of messages, with their routes and schemas. A webhook's secret is returned once, when it is made. An
 * address is the channel's whose host it has, unless another kind is named with it; receivers are mail's.
 */
import { z } from "zod";
import { contract, findVerb, type Library, listVerb, plainVerb, verb } from "../kernel/contract.ts";
import { isPrincipal } from "../kernel/principal.ts";
import { displayValue } from "../kernel/text.ts";
import {
  channel,
  choice,
  durationOrNone,
  either,
  id,
  listOrder,
  operator,
  optionalText,
  timestamp,
} from "../kernel/values.ts";
import { ROLES } from "../people/stream.ts";
import { CHANNELS } from "./channels.ts";
import { isMailAddress, readWebhookUrl } from "./post.ts";
import { ANNOUNCED_EVENTS, isAnnouncedPattern } from "./rules/announced-events.ts";
import { APPROVERS_RECIPIENT, isSigningSecret } from "./rules/endpoint.ts";
import { type EndpointTarget, MESSAGE_STATUSES } from "./stream.ts";

const { webhook, ...others } = CHANNELS;
const targetSchema = z.discriminatedUnion("kind", [
  webhook.target,
  ...Object.values(others).map(({ target }) => target),
]) satisfies z.ZodType<EndpointTarget>;

const ADDRESSED = Object.values(CHANNELS).filter((one) => one.address !== "people");
type AddressKind = (typeof ADDRESSED)[number]["kind"];
const ADDRESS_KINDS = ADDRESSED.map(({ kind }) => kind);
const kindSchema = z
  .enum(ADDRESS_KINDS)
  .optional()
  .describe(`what the address belongs to: ${ADDRESS_KINDS.join(", ")}; default: by its host`);

/** Whether the address of a target is a secret, which is neither shown nor changed in place. */
export const isSecretAddress = (target: Pick<EndpointTarget, "kind">): boolean =>
  CHANNELS[target.kind].address === "secret";

const kindOfHost = (host: string): AddressKind =>
  ADDRESSED.find((one) => "hosts" in one && one.hosts.test(host))?.kind ?? "webhook";

type ReadUrl = { readonly target: EndpointTarget } | { readonly fault: string };

function readUrl(text: string, named?: AddressKind): ReadUrl {
  const read = readWebhookUrl(text);
  if ("problem" in read) {
    // The URL is not repeated: the part before the @ may be a password.
    const why = read.problem === "user_in_url" ? "holds a user name" : "is not an https address";
    return { fault: `The endpoint's url ${why}.` };
  }
  const { url, hostname } = read;
  const { kind, address } = CHANNELS[named ?? kindOfHost(hostname)];
  return { target: address === "shown" ? { kind, url: url.href } : { kind, host: url.host.slice(0, 100) } };
}

const MOST_RECEIVERS = 100;
const MOST_URL = 2_000;
const URL_LENGTH = `An endpoint's url is an address of at most ${MOST_URL} characters.`;
const RECEIVERS = `"to" is a list of 1 to ${MOST_RECEIVERS} receivers.`;

const urlSchema = z
  .string({ error: URL_LENGTH })
  .max(MOST_URL, { error: URL_LENGTH, abort: true })
  .superRefine((text, context) => {
    const read = readUrl(text);
    if ("fault" in read) context.addIssue({ code: "custom", message: read.fault });
  })
  .describe("of a webhook, or the secret address of a chat");

function isReceiver(name: string): boolean {
  const isAddress: boolean = isMailAddress(name);
  if (name === APPROVERS_RECIPIENT || isAddress) return true;
  if (name.startsWith("role:")) return (ROLES as readonly string[]).includes(name.slice(5));
  if (name.startsWith("group:")) return /^group:[^\s/][^\n\r\t]{0,199}$/u.test(name) && name.isWellFormed();
  return name.startsWith("person:") && isPrincipal(name);
}

const receiver = z.string().refine(isReceiver, {
  error: ({ input }) =>
    `"${displayValue(input)}" is no receiver: write an address, person:<name>, role:<role>, group:<name> or ${APPROVERS_RECIPIENT}.`,
});
const receiversSchema = z
  .array(receiver, { error: RECEIVERS })
  .min(1, { error: RECEIVERS })
  .max(MOST_RECEIVERS, { error: RECEIVERS })
  .readonly()
  .describe("of mail: addresses, person:, role:, group: or approvers");

type WrittenTarget = {
  readonly url?: string | undefined;
  readonly to?: readonly string[] | undefined;
  readonly kind?: AddressKind | undefined;
};

/** The input is checked by the schemas above. Undefined if neither is given. */
export function readTarget({ url, to, kind }: WrittenTarget): EndpointTarget | undefined {
  if (to !== undefined) return { kind: "mail", to: [...new Set(to)] };
  const read = url === undefined ? undefined : readUrl(url, kind);
  return read !== undefined && "target" in read ? read.target : undefined;
}

/** Default name of an endpoint. */
export function targetName(target: EndpointTarget): string {
  if (target.kind === "mail") return "mail";
  return "url" in target ? new URL(target.url).host.slice(0, 100) : target.host;
}

const STATUSES = ["on", "off", "removed"] as const;
const summary = z.object({
  id: id("endpoint"),
  status: z.enum(STATUSES),
  name: z.string(),
  target: targetSchema,
  events: z.array(z.string()).readonly(),
  owner: z.string(),
  addedAt: timestamp,
  missed: z.number().describe("messages given up since one last arrived"),
  off: z.object({ at: timestamp, by: z.string(), reason: z.string() }).nullable(),
});
const endpoint = summary.extend({
  secrets: z
    .array(z.object({ secret: z.string(), until: timestamp.nullable() }))
    .readonly()
    .describe("where each signing secret is stored, newest first; never the secret"),
});
const withSecret = endpoint.extend({
  secret: z.string().nullable().describe("what a webhook's messages are signed with; shown this once"),
});

const MOST_EVENTS = 50;
const EVENTS = `"events" is a list of 1 to ${MOST_EVENTS} types of messages.`;
const NAME = "An endpoint's name is a text of at most 100 characters.";
const BOTH = '"url" and "to" exclude each other.';
const NEITHER = 'An endpoint has either a "url", or "to": the receivers of mail.';
export const SECRET_ADDRESS =
  "The address of a chat is a secret: it is not changed in place. Give the endpoint another one with rotate.";
const DAY_MS = 86_400_000;
const OVERLAP = "overlapMs is a whole number of milliseconds, at most 30 days.";

const announced = z.string().refine(isAnnouncedPattern, {
  error: ({ input }) =>
    `Nothing is told of "${displayValue(input)}"; there are ${[...ANNOUNCED_EVENTS.keys()].join(", ")}.`,
});
const owner = z.string().refine(isPrincipal, {
  error: ({ input }) => `"${displayValue(input)}" owns nothing: write person:<name>.`,
});
const terms = {
  url: urlSchema.optional(),
  to: receiversSchema.optional(),
  kind: kindSchema,
  events: z
    .array(announced, { error: EVENTS })
    .min(1, { error: EVENTS })
    .max(MOST_EVENTS, { error: EVENTS })
    .readonly()
    .optional()
    .describe("types of messages, such as approval.requested or approval.*; default: all"),
  name: z
    .string({ error: NAME })
    .max(100, { error: NAME })
    .refine((text) => text.trim() !== "" && text.isWellFormed(), { error: NAME })
    .optional()
    .describe("unique among endpoints of its kind, so that a run may name it: slack://prod"),
  owner: owner
    .optional()
    .describe("default: who adds it. An agent's endpoint gets the intents that are sent to that agent"),
};
const acting = { by: operator, via: channel };
const word = z.strictObject({ reason: optionalText("A reason").default(""), ...acting });
const offer = either(
  z.strictObject({
    ...terms,
    secret: z
      .string()
      .refine(isSigningSecret, { error: "A webhook's secret is whsec_ and 24 to 64 bytes in base64." })
      .optional()
      .describe("of a webhook whose receiver brings its own"),
    ...acting,
  }),
  ["url", "to"],
  NEITHER,
).refine((given) => given.secret === undefined || readTarget(given)?.kind === "webhook", {
  error: "Only a webhook is signed: leave the secret out.",
});

export const endpoints = contract({
  name: "endpoints",
  owner: "endpoint",
  tag: "messages",
  door: "admin",
  verbs: {
    /** Oldest first. `any`: those that are on or off. */
    list: verb({
      http: "GET /api/endpoints",
      summary: "Endpoints: webhooks, mail and chats; those that are on or off unless a `status` is given",
      takes: "page",
      input: z.strictObject({ status: choice("An endpoint's status", [...STATUSES, "any"]).default("any") }),
      output: z.array(summary).readonly(),
      wrap: "endpoints",
    }),
    add: verb({
      http: "POST /api/endpoints",
      status: 201,
      summary:
        "Add a webhook or a chat (`url`), or people by mail (`to`); the answer has a webhook's secret, this once",
      whenLost: "none",
      takes: "offer",
      input: offer,
      output: withSecret,
    }),
    get: plainVerb({ http: "GET /api/endpoints/{id}", summary: "An endpoint in full", output: endpoint }),
    find: findVerb({ http: "GET /api/endpoints/find" }),
    change: verb({
      http: "PATCH /api/endpoints/{id}",
      summary: "Another address, other events, another name or owner; what is not named stays",
      takes: "terms",
      input: z
        .strictObject({ ...terms, ...acting })
        .refine(({ url, to }) => url === undefined || to === undefined, { error: BOTH })
        .refine(({ kind }) => kind === undefined || !isSecretAddress({ kind }), { error: SECRET_ADDRESS }),
      output: endpoint,
    }),
    rotate: verb({
      http: "POST /api/endpoints/{id}/rotate",
      status: 201,
      summary:
        "A new secret for a webhook; the old one also signs until the overlap ends, one day unless set. Of a chat: its new address (`url`)",
      whenLost: "none",
      takes: "rotation",
      input: z.strictObject({
        overlapMs: durationOrNone(30 * DAY_MS, OVERLAP).default(DAY_MS),
        url: urlSchema.optional().describe("of a chat: its new address"),
        ...acting,
      }),
      output: withSecret,
    }),
    switchOff: verb({
      http: "POST /api/endpoints/{id}/off",
      summary: "Nothing is sent there until it is switched on; messages that were made wait",
      whenLost: "repeat",
      takes: "word",
      input: word,
      output: endpoint,
    }),
    switchOn: verb({
      http: "POST /api/endpoints/{id}/on",
      summary: "Send there again, what waited first",
      whenLost: "repeat",
      takes: "word",
      input: word,
      output: endpoint,
    }),
    remove: verb({
      http: "POST /api/endpoints/{id}/remove",
      summary: "Remove it for good, and drop its waiting messages",
      whenLost: "repeat",
      takes: "word",
      input: word,
      output: endpoint,
    }),
    /** From this process; if there are several receivers, to the first. A message that did not arrive is retried. */
    test: verb({
      http: "POST /api/endpoints/{id}/test",
      summary: "Send a test message there now, and answer its outcome",
      takes: "word",
      input: z.strictObject(acting),
      output: z.object({
        message: id("message"),
        arrived: z.boolean(),
        status: z.number().nullable(),
        problem: z.string().nullable(),
      }),
    }),
  },
});

const messageSummary = z.object({
  id: id("message"),
  status: z.enum(MESSAGE_STATUSES),
  endpoint: id("endpoint"),
  type: z.string(),
  source: z.object({ stream: z.string(), seq: z.number() }).describe("the entry that it announces"),
  to: z.string().nullable().describe("of mail: a person or an address"),
  madeAt: timestamp,
  attempts: z.number().describe("since it was made, or sent again by a person"),
  last: z.object({ at: timestamp, status: z.number().nullable(), problem: z.string().nullable() }).nullable(),
  dueAt: timestamp.nullable(),
  endedAt: timestamp.nullable(),
  reason: z.string().nullable().describe("why it was given up"),
});
const message = messageSummary.extend({ turns: z.number().describe("attempts in total") });

export const messages = contract({
  name: "messages",
  owner: "message",
  scopes: "endpoints",
  door: "admin",
  verbs: {
    list: listVerb({
      http: "GET /api/messages",
      summary: "Messages, newest first; `status=dead` are those that were given up",
      filters: {
        status: choice("A message's status", [...MESSAGE_STATUSES, "any"]).default("any"),
        order: listOrder,
      },
      item: messageSummary,
    }),
    get: plainVerb({
      http: "GET /api/messages/{id}",
      summary: "A message in full, without its content",
      output: message,
    }),
    count: verb({
      http: "GET /api/messages/count",
      summary: "Number of messages with a status",
      takes: "status",
      positional: "status",
      input: z.strictObject({ status: choice("A message's status", MESSAGE_STATUSES) }),
      output: z.number(),
      wrap: "count",
    }),
    find: findVerb({ http: "GET /api/messages/find" }),
    /** From the first attempt on, with the same id. */
    retry: verb({
      http: "POST /api/messages/{id}/retry",
      summary: "Send one again that was given up, under the same id",
      takes: "word",
      input: z.strictObject(acting),
      output: message,
    }),
  },
});

type EndpointVerbs = (typeof endpoints)["verbs"];
export type EndpointOffer = z.input<typeof offer>;
export type EndpointChange = z.input<EndpointVerbs["change"]["input"]>;
export type Endpoint = z.output<typeof endpoint>;
export type EndpointSummary = z.output<typeof summary>;
export type EndpointWithSecret = z.output<typeof withSecret>;
export type EndpointTest = z.output<EndpointVerbs["test"]["output"]>;

export type Message = z.output<typeof message>;
export type MessageSummary = z.output<typeof messageSummary>;
export type MessagePage = z.input<(typeof messages)["verbs"]["list"]["input"]>;
export type MessageList = Awaited<ReturnType<Library<typeof messages>["list"]>>;
