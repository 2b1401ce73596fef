/**
 * Where an endpoint sends: how a target is read from what people write. An address is the channel's whose host it has,
 * unless they name another kind; receivers are mail's.
 */
import { z } from "zod";
import { isPrincipal } from "../kernel/principal.ts";
import { displayValue } from "../kernel/text.ts";
import { ROLES } from "../people/stream.ts";
import { isMailAddress } from "./addresses.ts";
import { CHANNELS, channelFor } from "./channels.ts";
import { readWebhookUrl } from "./post.ts";
import { APPROVERS_RECIPIENT } from "./rules/endpoint.ts";
import type { EndpointTarget } from "./stream.ts";

const { webhook, mail, slack, teams } = CHANNELS;
export const targetSchema = z.discriminatedUnion("kind", [
  webhook.target,
  mail.target,
  slack.target,
  teams.target,
]) satisfies z.ZodType<EndpointTarget>;

type AddressKind = Exclude<EndpointTarget["kind"], "mail">;
const ADDRESS_KINDS = Object.values(CHANNELS).flatMap((one) => (one.kind === "mail" ? [] : [one.kind]));
export const kindSchema = z
  .enum(ADDRESS_KINDS)
  .optional()
  .describe(`what the address belongs to: ${ADDRESS_KINDS.join(", ")}; default: by its host`);

/** Whether the address of a target is a secret, which is neither shown nor changed in place. */
export const isSecretAddress = (target: Pick<EndpointTarget, "kind">): boolean =>
  channelFor(target).address === "secret";

function kindOfHost(host: string): AddressKind {
  const found = Object.values(CHANNELS).find((one) => "hosts" in one && one.hosts.test(host));
  return found === undefined || found.kind === "mail" ? "webhook" : found.kind;
}

type ReadUrl = { readonly target: EndpointTarget } | { readonly fault: string };

function readUrl(text: string, named?: AddressKind): ReadUrl {
  const read = readWebhookUrl(text);
  if ("problem" in read) {
    // The URL is not repeated: the part before the @ may be a password.
    const why = read.problem === "user_in_url" ? "holds a user name" : "is not an https address";
    return { fault: `The endpoint's url ${why}.` };
  }
  const { url, hostname } = read;
  const kind = named ?? kindOfHost(hostname);
  return { target: kind === "webhook" ? { kind, url: url.href } : { kind, host: url.host.slice(0, 100) } };
}

const MOST_RECEIVERS = 100;
const MOST_URL = 2_000;
const URL_LENGTH = `An endpoint's url is an address of at most ${MOST_URL} characters.`;
const RECEIVERS = `"to" is a list of 1 to ${MOST_RECEIVERS} receivers.`;

export const urlSchema = z
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
export const receiversSchema = z
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
  return target.kind === "webhook" ? new URL(target.url).host.slice(0, 100) : target.host;
}
