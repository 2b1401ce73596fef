/** What is said of an endpoint, checked before anything is looked at. */

import { ANNOUNCED, isKnownEvent } from "../../core/message/announced.ts";
import type { EndpointTerms } from "../../core/message/endpoint.ts";
import type { Target } from "../../core/message/endpoint-state.ts";
import { APPROVERS } from "../../core/message/recipients.ts";
import { isSigningSecret } from "../../core/message/signature.ts";
import { checkFields, rejectInput } from "../../kernel/fields.ts";
import { isPrincipal, type Via } from "../../kernel/principal.ts";
import { displayValue } from "../../kernel/text.ts";
import { checkVia } from "../../people/input.ts";
import { ROLES } from "../../people/stream.ts";

import { isMailAddress } from "./mail-address.ts";
import { readTarget } from "./safe-request.ts";

/** A webhook's `url`, or whom mail goes `to`. */
export type EndpointOffer = {
  readonly url?: string;
  /** Addresses, `person:ann`, `role:supervisor`, `group:finance`, or `approvers`: whoever may decide. */
  readonly to?: readonly string[];
  /** Types of messages; `approval.*` means all that begin so. Everything unless set. */
  readonly events?: readonly string[];
  /** What people call it. */
  readonly name?: string;
  /** Whose it is; who adds it unless set. One of an agent is told of that agent's intents until it acknowledges them. */
  readonly owner?: string;
  /** Of a webhook: `whsec_…`, if the receiver brings its own. */
  readonly secret?: string;
  readonly by: string;
  /** How they had shown who they are, where the program says so. */
  readonly via?: string;
};
export type EndpointChange = Omit<EndpointOffer, "secret">;

const FIELDS = ["url", "to", "events", "name", "owner", "by", "via"];
const MOST_RECEIVERS = 100;
const MOST_EVENTS = 50;
const MOST_URL = 2_000;

/** A program may be an operator; an agent is none. */
export function checkOperator(by: unknown): string {
  if (isPrincipal(by) && !by.startsWith("agent:")) return by;
  return rejectInput(`"${displayValue(by)}" is no person or service: write person:<name>.`);
}

function checkOwner(owner: unknown): string {
  return isPrincipal(owner)
    ? owner
    : rejectInput(`"${displayValue(owner)}" owns nothing: write person:<name>.`);
}

function checkUrl(url: unknown): Target {
  if (typeof url !== "string" || url.length > MOST_URL || !url.isWellFormed())
    return rejectInput(`A webhook's url is an address of at most ${MOST_URL} characters.`);
  const target = readTarget(url);
  if ("problem" in target) {
    const why = target.problem === "user_in_url" ? "holds a user name" : "is not an https address";
    // What stands before the @ may be a password.
    return rejectInput(`The webhook's url ${why}.`);
  }
  return { kind: "webhook", url: target.url.href };
}

function isReceiver(name: unknown): name is string {
  if (typeof name !== "string") return false;
  const isAddress: boolean = isMailAddress(name);
  if (name === APPROVERS || isAddress) return true;
  if (name.startsWith("role:")) return (ROLES as readonly string[]).includes(name.slice(5));
  if (name.startsWith("group:")) return /^group:[^\s/][^\n\r\t]{0,199}$/u.test(name) && name.isWellFormed();
  return name.startsWith("person:") && isPrincipal(name);
}

function checkReceivers(to: unknown): Target {
  if (!Array.isArray(to) || to.length === 0 || to.length > MOST_RECEIVERS)
    return rejectInput(`"to" is a list of 1 to ${MOST_RECEIVERS} receivers.`);
  const other = to.find((name) => !isReceiver(name));
  if (other !== undefined)
    return rejectInput(
      `"${displayValue(other)}" is no receiver: write an address, person:<name>, role:<role>, group:<name> or ${APPROVERS}.`,
    );
  return { kind: "mail", to: [...new Set(to as readonly string[])] };
}

function checkEvents(events: unknown): readonly string[] {
  const isList = Array.isArray(events) && events.length > 0 && events.length <= MOST_EVENTS;
  if (!isList) return rejectInput(`"events" is a list of 1 to ${MOST_EVENTS} types of messages.`);
  const other = events.find((event) => typeof event !== "string" || !isKnownEvent(event));
  if (other !== undefined)
    return rejectInput(
      `Nothing is told of "${displayValue(other)}"; there are ${[...ANNOUNCED.keys()].join(", ")}.`,
    );
  return [...new Set(events as readonly string[])];
}

function checkName(name: unknown): string {
  if (typeof name === "string" && name.trim() !== "" && name.length <= 100 && name.isWellFormed())
    return name;
  return rejectInput("An endpoint's name is a text of at most 100 characters.");
}

function checkTarget({ url, to }: EndpointChange): Target | undefined {
  if (url !== undefined && to !== undefined) return rejectInput('"url" and "to" exclude each other.');
  if (url !== undefined) return checkUrl(url);
  return to === undefined ? undefined : checkReceivers(to);
}

/** Only what is given. */
function checkTerms(given: EndpointChange): Partial<EndpointTerms> {
  const target = checkTarget(given);
  return {
    ...(target === undefined ? {} : { target }),
    ...(given.events === undefined ? {} : { events: checkEvents(given.events) }),
    ...(given.name === undefined ? {} : { name: checkName(given.name) }),
    ...(given.owner === undefined ? {} : { owner: checkOwner(given.owner) }),
  };
}

const hostOf = (target: Target): string =>
  target.kind === "webhook" ? new URL(target.url).host.slice(0, 100) : "mail";

export type Offered = Via & {
  readonly terms: EndpointTerms;
  readonly by: string;
  readonly secret: string | undefined;
};

export function checkOffer(given: EndpointOffer): Offered {
  const offer = checkFields("An endpoint", given, [...FIELDS, "secret"]);
  const by = checkOperator(offer.by);
  const { target, events = ["*"], name, owner = by } = checkTerms(offer);
  if (target === undefined) return rejectInput('An endpoint needs a "url", or whom mail goes "to".');
  const { secret } = offer;
  if (secret !== undefined && target.kind === "mail")
    rejectInput("Mail is not signed: leave the secret out.");
  if (secret !== undefined && !isSigningSecret(secret))
    rejectInput("A webhook's secret is whsec_ and 24 to 64 bytes in base64.");
  return {
    terms: { target, events, name: name ?? hostOf(target), owner },
    by,
    secret,
    ...checkVia(offer.via),
  };
}

export function checkChange(given: EndpointChange): Via & {
  readonly terms: Partial<EndpointTerms>;
  readonly by: string;
} {
  const change = checkFields("A change of an endpoint", given, FIELDS);
  return { terms: checkTerms(change), by: checkOperator(change.by), ...checkVia(change.via) };
}
