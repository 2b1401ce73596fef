/**
 * Endpoints as operators see and change them: input, checked before any lookup, and the methods. A webhook's secret is
 * shown once, when it is made, and stored encrypted.
 */

import { HoldpointError } from "../kernel/errors.ts";
import { checkFields, checkId, rejectInput } from "../kernel/fields.ts";
import type { Json } from "../kernel/json.ts";
import { isPrincipal, type Via } from "../kernel/principal.ts";
import { checkVia } from "../kernel/said.ts";
import { endpointStream, ROSTER } from "../kernel/stream.ts";
import { displayValue } from "../kernel/text.ts";
import { ROLES } from "../people/stream.ts";
import { findIds } from "../runtime/lists.ts";
import { freshId, type Runtime } from "../runtime/runtime.ts";
import { readState, runCommand } from "../runtime/store-access.ts";
import { isMailAddress } from "./addresses.ts";
import type { DeliveryContext } from "./content.ts";
import { ANNOUNCED_EVENTS, isAnnouncedPattern } from "./rules/announced-events.ts";
import {
  APPROVERS_RECIPIENT,
  addEndpoint,
  changeEndpoint,
  type EndpointAnswer,
  type EndpointTerms,
  isSigningSecret,
  removeEndpoint,
  resolveRecipients,
  rotateSecret,
  SIGNING_SECRET_BYTES,
  signingSecretText,
  switchEndpoint,
} from "./rules/endpoint.ts";
import { type SendOutcome, testEndpoint } from "./rules/message.ts";
import { sendMessage } from "./send.ts";
import type { EndpointTarget, LiveEndpoint } from "./stream.ts";
import { readWebhookUrl } from "./webhook.ts";

/** A webhook (`url`), or recipients of mail (`to`). */
export type EndpointOffer = {
  readonly url?: string;
  /** Addresses, `person:ann`, `role:supervisor`, `group:finance`, or `approvers`: the people who may decide. */
  readonly to?: readonly string[];
  /** Types of messages; `approval.*` covers all types with that prefix. Default: all. */
  readonly events?: readonly string[];
  /** Display name. */
  readonly name?: string;
  /** Default: the actor who adds it. An agent's endpoint gets that agent's intents until it acknowledges them. */
  readonly owner?: string;
  /** For a webhook: `whsec_…`, if the receiver brings its own. */
  readonly secret?: string;
  readonly by: string;
  /** Channel through which the actor authenticated, if the program names one. */
  readonly via?: string;
};
export type EndpointChange = Omit<EndpointOffer, "secret">;

const OFFER_FIELDS = ["url", "to", "events", "name", "owner", "by", "via"];
const MOST_RECEIVERS = 100;
const MOST_EVENTS = 50;
const MOST_URL = 2_000;

/** A person or a service may be an operator; an agent may not. */
export function checkOperator(by: unknown): string {
  if (isPrincipal(by) && !by.startsWith("agent:")) return by;
  return rejectInput(`"${displayValue(by)}" is no person or service: write person:<name>.`);
}

function checkOwner(owner: unknown): string {
  return isPrincipal(owner)
    ? owner
    : rejectInput(`"${displayValue(owner)}" owns nothing: write person:<name>.`);
}

function checkUrl(url: unknown): EndpointTarget {
  if (typeof url !== "string" || url.length > MOST_URL || !url.isWellFormed())
    return rejectInput(`A webhook's url is an address of at most ${MOST_URL} characters.`);
  const target = readWebhookUrl(url);
  if ("problem" in target) {
    const why = target.problem === "user_in_url" ? "holds a user name" : "is not an https address";
    // The URL is not repeated: the part before the @ may be a password.
    return rejectInput(`The webhook's url ${why}.`);
  }
  return { kind: "webhook", url: target.url.href };
}

function isReceiver(name: unknown): name is string {
  if (typeof name !== "string") return false;
  const isAddress: boolean = isMailAddress(name);
  if (name === APPROVERS_RECIPIENT || isAddress) return true;
  if (name.startsWith("role:")) return (ROLES as readonly string[]).includes(name.slice(5));
  if (name.startsWith("group:")) return /^group:[^\s/][^\n\r\t]{0,199}$/u.test(name) && name.isWellFormed();
  return name.startsWith("person:") && isPrincipal(name);
}

function checkReceivers(to: unknown): EndpointTarget {
  if (!Array.isArray(to) || to.length === 0 || to.length > MOST_RECEIVERS)
    return rejectInput(`"to" is a list of 1 to ${MOST_RECEIVERS} receivers.`);
  const other = to.find((name) => !isReceiver(name));
  if (other !== undefined)
    return rejectInput(
      `"${displayValue(other)}" is no receiver: write an address, person:<name>, role:<role>, group:<name> or ${APPROVERS_RECIPIENT}.`,
    );
  return { kind: "mail", to: [...new Set(to as readonly string[])] };
}

function checkEvents(events: unknown): readonly string[] {
  const isList = Array.isArray(events) && events.length > 0 && events.length <= MOST_EVENTS;
  if (!isList) return rejectInput(`"events" is a list of 1 to ${MOST_EVENTS} types of messages.`);
  const other = events.find((event) => typeof event !== "string" || !isAnnouncedPattern(event));
  if (other !== undefined)
    return rejectInput(
      `Nothing is told of "${displayValue(other)}"; there are ${[...ANNOUNCED_EVENTS.keys()].join(", ")}.`,
    );
  return [...new Set(events as readonly string[])];
}

function checkName(name: unknown): string {
  if (typeof name === "string" && name.trim() !== "" && name.length <= 100 && name.isWellFormed())
    return name;
  return rejectInput("An endpoint's name is a text of at most 100 characters.");
}

function checkTarget({ url, to }: EndpointChange): EndpointTarget | undefined {
  if (url !== undefined && to !== undefined) return rejectInput('"url" and "to" exclude each other.');
  if (url !== undefined) return checkUrl(url);
  return to === undefined ? undefined : checkReceivers(to);
}

/** Only the fields that were given. */
function checkTerms(given: EndpointChange): Partial<EndpointTerms> {
  const target = checkTarget(given);
  return {
    ...(target === undefined ? {} : { target }),
    ...(given.events === undefined ? {} : { events: checkEvents(given.events) }),
    ...(given.name === undefined ? {} : { name: checkName(given.name) }),
    ...(given.owner === undefined ? {} : { owner: checkOwner(given.owner) }),
  };
}

const hostOf = (target: EndpointTarget): string =>
  target.kind === "webhook" ? new URL(target.url).host.slice(0, 100) : "mail";

type CheckedEndpointOffer = Via & {
  readonly terms: EndpointTerms;
  readonly by: string;
  readonly secret: string | undefined;
};

function checkEndpointOffer(given: EndpointOffer): CheckedEndpointOffer {
  const offer = checkFields("An endpoint", given, [...OFFER_FIELDS, "secret"]);
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

function checkEndpointChange(given: EndpointChange): Via & {
  readonly terms: Partial<EndpointTerms>;
  readonly by: string;
} {
  const change = checkFields("A change of an endpoint", given, OFFER_FIELDS);
  return { terms: checkTerms(change), by: checkOperator(change.by), ...checkVia(change.via) };
}

export type Endpoint = LiveEndpoint & { readonly id: string };
export type EndpointSummary = { readonly id: string; readonly [field: string]: Json };
/** `secret` is returned only here. It is stored encrypted, and never shown again. */
export type EndpointWithSecret = Endpoint & { readonly secret: string | null };
type EndpointWord = Via & { readonly by: string; readonly reason?: string };
/** `message`: its id. It is retried later if it did not arrive. */
export type EndpointTest = {
  readonly message: string;
  readonly arrived: boolean;
  readonly status: number | null;
  readonly problem: string | null;
};

const MOST = 1_000;
/** After a rotation both secrets sign for this long. Default of `overlapMs`. */
const OVERLAP_MS = 24 * 60 * 60 * 1_000;
const MOST_OVERLAP_MS = 30 * OVERLAP_MS;

function unknownEndpoint(id: string): HoldpointError {
  return new HoldpointError("unknown_id", `There is no endpoint ${displayValue(id)}.`, {
    next: "Check the id; `holdpoint endpoints --all` lists them.",
  });
}

function endpointOrThrow(id: string, answer: EndpointAnswer): Endpoint {
  if (answer.kind === "done") return structuredClone({ ...answer.state, id });
  if (answer.kind === "unknown") throw unknownEndpoint(id);
  throw new HoldpointError("wrong_state", `The endpoint ${id} was removed.`, { next: "Add it anew." });
}

async function listEndpoints(
  { store, tenant }: Runtime,
  given: { readonly status?: LiveEndpoint["status"] | "any" } = {},
): Promise<readonly EndpointSummary[]> {
  const { status = "any" } = checkFields("A list of endpoints", given, ["status"]);
  const buckets = status === "any" ? ["on", "off"] : [status];
  if (!["on", "off", "removed", "any"].includes(status))
    rejectInput("An endpoint is on, off or removed; or any.");
  const rows = await Promise.all(
    buckets.map((bucket) => store.query(tenant, { view: "endpoints", bucket, limit: MOST })),
  );
  return rows.flat().map((row) => ({ id: row.stream.id, ...row.data }));
}

async function getEndpoint(runtime: Runtime, id: string): Promise<Endpoint> {
  const state = await readState(runtime, endpointStream(id));
  if (state.status === "none") throw unknownEndpoint(id);
  return structuredClone({ ...state, id });
}

/** Stored before an endpoint refers to it: a secret without a reference opens nothing. */
async function keepSecret(
  runtime: Runtime,
  given: string | undefined,
): Promise<{ value: string; handle: string }> {
  const value = given ?? signingSecretText(runtime.random(SIGNING_SECRET_BYTES));
  const { $secret: handle } = await runtime.secrets.put(freshId(runtime, "sec"), value);
  return { value, handle };
}

async function addEndpointNow(runtime: Runtime, offer: EndpointOffer): Promise<EndpointWithSecret> {
  const { terms, by, secret: given, ...how } = checkEndpointOffer(offer);
  const kept = terms.target.kind === "webhook" ? await keepSecret(runtime, given) : null;
  const endpoint = freshId(runtime, "end");
  const answer = await runCommand(runtime, {}, (draft) =>
    addEndpoint(draft, { ...terms, endpoint, by, secret: kept?.handle ?? null, ...how }),
  );
  return { ...endpointOrThrow(endpoint, answer), secret: kept?.value ?? null };
}

async function changeEndpointNow(runtime: Runtime, id: string, given: EndpointChange): Promise<Endpoint> {
  const { terms, by, ...how } = checkEndpointChange(given);
  const { target } = await getEndpoint(runtime, id);
  if (terms.target !== undefined && terms.target.kind !== target.kind)
    rejectInput("A webhook stays a webhook, and mail stays mail: add another endpoint.");
  return endpointOrThrow(
    id,
    await runCommand(runtime, {}, (draft) => changeEndpoint(draft, { endpoint: id, by, terms, ...how })),
  );
}

type Rotation = Via & { readonly by: string; readonly overlapMs?: number };

async function rotateSecretNow(runtime: Runtime, id: string, given: Rotation): Promise<EndpointWithSecret> {
  const { by, via, overlapMs = OVERLAP_MS } = checkFields("A rotation", given, ["by", "via", "overlapMs"]);
  const operator = checkOperator(by);
  if (!Number.isInteger(overlapMs) || overlapMs < 0 || overlapMs > MOST_OVERLAP_MS)
    rejectInput("overlapMs is a whole number of milliseconds, at most 30 days.");
  const { target } = await getEndpoint(runtime, id);
  if (target.kind === "mail") rejectInput(`The endpoint ${id} is mail: it has no secret.`);
  const { value, handle } = await keepSecret(runtime, undefined);
  const command = { endpoint: id, by: operator, secret: handle, overlapMs, ...checkVia(via) };
  const answer = await runCommand(runtime, {}, (draft) => rotateSecret(draft, command));
  return { ...endpointOrThrow(id, answer), secret: value };
}

function checkEndpointWord(given: EndpointWord): Via & { readonly by: string; readonly reason: string } {
  const { by, via, reason = "" } = checkFields("What is said", given, ["by", "via", "reason"]);
  if (typeof reason !== "string" || !reason.isWellFormed() || reason.length > 10_000)
    rejectInput("A reason is a text of at most 10000 characters.");
  return { by: checkOperator(by), reason, ...checkVia(via) };
}

async function switchEndpointNow(
  runtime: Runtime,
  id: string,
  word: EndpointWord,
  on: boolean,
): Promise<Endpoint> {
  const said = checkEndpointWord(word);
  const answer = await runCommand(runtime, {}, (draft) =>
    switchEndpoint(draft, { endpoint: id, on, ...said }),
  );
  return endpointOrThrow(id, answer);
}

async function removeEndpointNow(runtime: Runtime, id: string, word: EndpointWord): Promise<void> {
  const said = checkEndpointWord(word);
  endpointOrThrow(
    id,
    await runCommand(runtime, {}, (draft) => removeEndpoint(draft, { endpoint: id, ...said })),
  );
}

const testOutcome = (
  message: string,
  outcome: SendOutcome | { readonly kind: "dropped"; readonly reason: string } | undefined,
): EndpointTest => {
  if (outcome === undefined || outcome.kind === "dropped")
    return { message, arrived: false, status: null, problem: outcome?.reason ?? null };
  const { status } = outcome;
  if (outcome.kind === "delivered") return { message, arrived: true, status, problem: null };
  return { message, arrived: false, status, problem: outcome.problem };
};

type EndpointTested = Via & { readonly by: string };

/** Sends from this process at once; if there are several recipients, to the first. */
async function testEndpointNow(
  office: DeliveryContext,
  id: string,
  given: EndpointTested,
): Promise<EndpointTest> {
  const { runtime } = office;
  const { via } = checkFields("What is said", given, ["by", "via"]);
  const by = checkOperator(given.by);
  const { target } = await getEndpoint(runtime, id);
  const to =
    target.kind === "webhook"
      ? null
      : (resolveRecipients(await readState(runtime, ROSTER), target.to, [])[0] ?? null);
  if (target.kind === "mail" && to === null)
    rejectInput(`The endpoint ${id} has nobody to write to: nobody whom it names has a mail address.`);
  const message = freshId(runtime, "msg");
  const command = { endpoint: id, message, by, to, ...checkVia(via) };
  const answer = await runCommand(runtime, {}, (draft) => testEndpoint(draft, command));
  if (answer.kind !== "made")
    throw answer.kind === "unknown"
      ? unknownEndpoint(id)
      : new HoldpointError("wrong_state", `The endpoint ${id} was removed.`);
  return testOutcome(message, await sendMessage(office, message));
}

export type Endpoints = {
  /** Adds a webhook (`url`) or mail to people (`to`). A webhook's secret is returned only here. */
  add(offer: EndpointOffer): Promise<EndpointWithSecret>;
  /** By default those that are on or off, oldest first. */
  list(page?: { readonly status?: LiveEndpoint["status"] | "any" }): Promise<readonly EndpointSummary[]>;
  get(id: string): Promise<Endpoint>;
  /** Ids that begin with the given text, at most ten. */
  find(beginning: string): Promise<readonly string[]>;
  /** Changes its address, events, name or owner. */
  change(id: string, terms: EndpointChange): Promise<Endpoint>;
  /** Makes a new secret. The previous one also signs for `overlapMs` (default: one day). */
  rotate(id: string, rotation: Rotation): Promise<EndpointWithSecret>;
  /** Sends nothing until it is switched on again. Messages that were already made wait. */
  switchOff(id: string, word: EndpointWord): Promise<Endpoint>;
  switchOn(id: string, word: EndpointWord): Promise<Endpoint>;
  /** Removes it for good, and drops its waiting messages. */
  remove(id: string, word: EndpointWord): Promise<void>;
  /** Sends a test message from this process, and returns the outcome. */
  test(id: string, word: Via & { readonly by: string }): Promise<EndpointTest>;
};

const ENDPOINT = "An endpoint";

/** `office`: the delivery of this process. */
export function endpointMethods(
  open: () => Promise<Runtime>,
  office: () => Promise<DeliveryContext>,
): Endpoints {
  return {
    add: async (offer) => addEndpointNow(await open(), offer),
    list: async (page = {}) => listEndpoints(await open(), page),
    get: async (id) => getEndpoint(await open(), checkId(ENDPOINT, id)),
    find: async (beginning) => findIds(await open(), "endpoints", checkId(ENDPOINT, beginning)),
    change: async (id, terms) => changeEndpointNow(await open(), checkId(ENDPOINT, id), terms),
    rotate: async (id, rotation) => rotateSecretNow(await open(), checkId(ENDPOINT, id), rotation),
    switchOff: async (id, word) => switchEndpointNow(await open(), checkId(ENDPOINT, id), word, false),
    switchOn: async (id, word) => switchEndpointNow(await open(), checkId(ENDPOINT, id), word, true),
    remove: async (id, word) => removeEndpointNow(await open(), checkId(ENDPOINT, id), word),
    test: async (id, word) => testEndpointNow(await office(), checkId(ENDPOINT, id), word),
  };
}
