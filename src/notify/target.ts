/**
 * Where an endpoint sends: the schema of each kind of target, and how a target is read from what people write: a URL,
 * by its scheme, or receivers of mail. A new kind of target is added here.
 */
import { z } from "zod";
import { isPrincipal } from "../kernel/principal.ts";
import { displayValue } from "../kernel/text.ts";
import { ROLES } from "../people/stream.ts";
import { isMailAddress } from "./addresses.ts";
import { APPROVERS_RECIPIENT } from "./rules/endpoint.ts";
import type { EndpointTarget } from "./stream.ts";
import { readWebhookUrl } from "./webhook.ts";

export const targetSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("webhook"), url: z.string() }),
  z.object({ kind: z.literal("mail"), to: z.array(z.string()).readonly() }),
]) satisfies z.ZodType<EndpointTarget>;

type ReadUrl = { readonly target: EndpointTarget } | { readonly fault: string };

/** By the scheme: https and http are a webhook's. */
function readUrl(text: string): ReadUrl {
  const read = readWebhookUrl(text);
  if (!("problem" in read)) return { target: { kind: "webhook", url: read.url.href } };
  // The URL is not repeated: the part before the @ may be a password.
  const why = read.problem === "user_in_url" ? "holds a user name" : "is not an https address";
  return { fault: `The webhook's url ${why}.` };
}

const MOST_RECEIVERS = 100;
const MOST_URL = 2_000;
const URL_LENGTH = `A webhook's url is an address of at most ${MOST_URL} characters.`;
const RECEIVERS = `"to" is a list of 1 to ${MOST_RECEIVERS} receivers.`;

export const urlSchema = z
  .string({ error: URL_LENGTH })
  .max(MOST_URL, { error: URL_LENGTH, abort: true })
  .superRefine((text, context) => {
    const read = readUrl(text);
    if ("fault" in read) context.addIssue({ code: "custom", message: read.fault });
  })
  .describe("of a webhook");

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

/** The input is checked by the schemas above. Undefined if neither is given. */
export function readTarget({
  url,
  to,
}: {
  readonly url?: string | undefined;
  readonly to?: readonly string[] | undefined;
}): EndpointTarget | undefined {
  if (to !== undefined) return { kind: "mail", to: [...new Set(to)] };
  const read = url === undefined ? undefined : readUrl(url);
  return read !== undefined && "target" in read ? read.target : undefined;
}

/** Default name of an endpoint. */
export const targetName = (target: EndpointTarget): string =>
  target.kind === "mail" ? "mail" : new URL(target.url).host.slice(0, 100);
