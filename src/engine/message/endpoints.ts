/** Endpoints as operators see them, and what they do to them. */

import {
  addEndpoint,
  changeEndpoint,
  type EndpointAnswer,
  removeEndpoint,
  rotateSecret,
  switchEndpoint,
} from "../../core/message/endpoint.ts";
import type { LiveEndpoint } from "../../core/message/endpoint-state.ts";
import { type Outcome, testEndpoint } from "../../core/message/message.ts";
import { recipientsOf } from "../../core/message/recipients.ts";
import { SECRET_BYTES, secretText } from "../../core/message/signature.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import { checkFields, checkId, rejectInput } from "../../kernel/fields.ts";
import type { Json } from "../../kernel/json.ts";
import type { Via } from "../../kernel/principal.ts";
import { endpointStream, ROSTER } from "../../kernel/stream.ts";
import { displayValue } from "../../kernel/text.ts";
import { checkVia } from "../../people/input.ts";

import { findIds } from "../../runtime/lists.ts";
import { freshId, type Runtime } from "../../runtime/runtime.ts";
import { readState, runCommand } from "../../runtime/store-access.ts";

import {
  checkChange,
  checkOffer,
  checkOperator,
  type EndpointChange,
  type EndpointOffer,
} from "./check-endpoint.ts";
import { type Office, sendOne } from "./send-one.ts";

export type Endpoint = LiveEndpoint & { readonly id: string };
export type EndpointSummary = { readonly id: string; readonly [field: string]: Json };
/** `secret` is shown this once: it is kept encrypted, and nobody gets to see it again. */
export type EndpointWithSecret = Endpoint & { readonly secret: string | null };
export type EndpointWord = Via & { readonly by: string; readonly reason?: string };
/** `message` is its id; it is tried again later if it did not arrive. */
export type EndpointTest = {
  readonly message: string;
  readonly arrived: boolean;
  readonly status: number | null;
  readonly problem: string | null;
};

const MOST = 1_000;
/** After a rotation both secrets sign for this long, unless told otherwise. */
const OVERLAP_MS = 24 * 60 * 60 * 1_000;
const MOST_OVERLAP_MS = 30 * OVERLAP_MS;

function unknown(id: string): HoldpointError {
  return new HoldpointError("unknown_id", `There is no endpoint ${displayValue(id)}.`, {
    next: "Check the id; `holdpoint endpoints --all` lists them.",
  });
}

function answered(id: string, answer: EndpointAnswer): Endpoint {
  if (answer.kind === "done") return structuredClone({ ...answer.state, id });
  if (answer.kind === "unknown") throw unknown(id);
  throw new HoldpointError("wrong_state", `The endpoint ${id} was removed.`, { next: "Add it anew." });
}

export async function listEndpoints(
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

export async function getEndpoint(runtime: Runtime, id: string): Promise<Endpoint> {
  const state = await readState(runtime, endpointStream(id));
  if (state.status === "none") throw unknown(id);
  return structuredClone({ ...state, id });
}

/** Kept before it is named: a secret that nobody came to name opens nothing. */
async function keepSecret(
  runtime: Runtime,
  given: string | undefined,
): Promise<{ value: string; handle: string }> {
  const value = given ?? secretText(runtime.random(SECRET_BYTES));
  const { $secret: handle } = await runtime.secrets.put(freshId(runtime, "sec"), value);
  return { value, handle };
}

export async function add(runtime: Runtime, offer: EndpointOffer): Promise<EndpointWithSecret> {
  const { terms, by, secret: given, ...how } = checkOffer(offer);
  const kept = terms.target.kind === "webhook" ? await keepSecret(runtime, given) : null;
  const endpoint = freshId(runtime, "end");
  const answer = await runCommand(runtime, {}, (draft) =>
    addEndpoint(draft, { ...terms, endpoint, by, secret: kept?.handle ?? null, ...how }),
  );
  return { ...answered(endpoint, answer), secret: kept?.value ?? null };
}

async function change(runtime: Runtime, id: string, given: EndpointChange): Promise<Endpoint> {
  const { terms, by, ...how } = checkChange(given);
  const { target } = await getEndpoint(runtime, id);
  if (terms.target !== undefined && terms.target.kind !== target.kind)
    rejectInput("A webhook stays a webhook, and mail stays mail: add another endpoint.");
  return answered(
    id,
    await runCommand(runtime, {}, (draft) => changeEndpoint(draft, { endpoint: id, by, terms, ...how })),
  );
}

export type Rotation = Via & { readonly by: string; readonly overlapMs?: number };

async function rotate(runtime: Runtime, id: string, given: Rotation): Promise<EndpointWithSecret> {
  const { by, via, overlapMs = OVERLAP_MS } = checkFields("A rotation", given, ["by", "via", "overlapMs"]);
  const operator = checkOperator(by);
  if (!Number.isInteger(overlapMs) || overlapMs < 0 || overlapMs > MOST_OVERLAP_MS)
    rejectInput("overlapMs is a whole number of milliseconds, at most 30 days.");
  const { target } = await getEndpoint(runtime, id);
  if (target.kind === "mail") rejectInput(`The endpoint ${id} is mail: it has no secret.`);
  const { value, handle } = await keepSecret(runtime, undefined);
  const command = { endpoint: id, by: operator, secret: handle, overlapMs, ...checkVia(via) };
  const answer = await runCommand(runtime, {}, (draft) => rotateSecret(draft, command));
  return { ...answered(id, answer), secret: value };
}

function checkWord(given: EndpointWord): Via & { readonly by: string; readonly reason: string } {
  const { by, via, reason = "" } = checkFields("What is said", given, ["by", "via", "reason"]);
  if (typeof reason !== "string" || !reason.isWellFormed() || reason.length > 10_000)
    rejectInput("A reason is a text of at most 10000 characters.");
  return { by: checkOperator(by), reason, ...checkVia(via) };
}

async function turn(runtime: Runtime, id: string, word: EndpointWord, on: boolean): Promise<Endpoint> {
  const said = checkWord(word);
  const answer = await runCommand(runtime, {}, (draft) =>
    switchEndpoint(draft, { endpoint: id, on, ...said }),
  );
  return answered(id, answer);
}

async function remove(runtime: Runtime, id: string, word: EndpointWord): Promise<void> {
  const said = checkWord(word);
  answered(id, await runCommand(runtime, {}, (draft) => removeEndpoint(draft, { endpoint: id, ...said })));
}

const outcomeOf = (
  message: string,
  outcome: Outcome | { readonly kind: "dropped"; readonly reason: string } | undefined,
): EndpointTest => {
  if (outcome === undefined || outcome.kind === "dropped")
    return { message, arrived: false, status: null, problem: outcome?.reason ?? null };
  const { status } = outcome;
  if (outcome.kind === "delivered") return { message, arrived: true, status, problem: null };
  return { message, arrived: false, status, problem: outcome.problem };
};

type EndpointTested = Via & { readonly by: string };

/** Sent from here and now, to the first receiver where there are several. */
async function test(office: Office, id: string, given: EndpointTested): Promise<EndpointTest> {
  const { runtime } = office;
  const { via } = checkFields("What is said", given, ["by", "via"]);
  const by = checkOperator(given.by);
  const { target } = await getEndpoint(runtime, id);
  const to =
    target.kind === "webhook"
      ? null
      : (recipientsOf(await readState(runtime, ROSTER), target.to, [])[0] ?? null);
  if (target.kind === "mail" && to === null)
    rejectInput(`The endpoint ${id} has nobody to write to: nobody whom it names has a mail address.`);
  const message = freshId(runtime, "msg");
  const command = { endpoint: id, message, by, to, ...checkVia(via) };
  const answer = await runCommand(runtime, {}, (draft) => testEndpoint(draft, command));
  if (answer.kind !== "made")
    throw answer.kind === "unknown"
      ? unknown(id)
      : new HoldpointError("wrong_state", `The endpoint ${id} was removed.`);
  return outcomeOf(message, await sendOne(office, message));
}

export type Endpoints = {
  /** A webhook (`url`) or people by mail (`to`). The secret of a webhook is answered this once. */
  add(offer: EndpointOffer): Promise<EndpointWithSecret>;
  /** Those that are on or off, oldest first. */
  list(page?: { readonly status?: LiveEndpoint["status"] | "any" }): Promise<readonly EndpointSummary[]>;
  get(id: string): Promise<Endpoint>;
  /** Ids that begin with a text, at most ten. */
  find(beginning: string): Promise<readonly string[]>;
  /** Another address, other events, another name or owner. */
  change(id: string, terms: EndpointChange): Promise<Endpoint>;
  /** A new secret. The one before signs too for `overlapMs`, a day unless set. */
  rotate(id: string, rotation: Rotation): Promise<EndpointWithSecret>;
  /** Nothing is sent until it is switched on; what was made before waits. */
  switchOff(id: string, word: EndpointWord): Promise<Endpoint>;
  switchOn(id: string, word: EndpointWord): Promise<Endpoint>;
  /** For good. What waits for it is dropped. */
  remove(id: string, word: EndpointWord): Promise<void>;
  /** Sends a test message from here, and answers what became of it. */
  test(id: string, word: Via & { readonly by: string }): Promise<EndpointTest>;
};

const ENDPOINT = "An endpoint";

/** `office`: what sends from here. */
export function endpointsOf(open: () => Promise<Runtime>, office: () => Promise<Office>): Endpoints {
  return {
    add: async (offer) => add(await open(), offer),
    list: async (page = {}) => listEndpoints(await open(), page),
    get: async (id) => getEndpoint(await open(), checkId(ENDPOINT, id)),
    find: async (beginning) => findIds(await open(), "endpoints", checkId(ENDPOINT, beginning)),
    change: async (id, terms) => change(await open(), checkId(ENDPOINT, id), terms),
    rotate: async (id, rotation) => rotate(await open(), checkId(ENDPOINT, id), rotation),
    switchOff: async (id, word) => turn(await open(), checkId(ENDPOINT, id), word, false),
    switchOn: async (id, word) => turn(await open(), checkId(ENDPOINT, id), word, true),
    remove: async (id, word) => remove(await open(), checkId(ENDPOINT, id), word),
    test: async (id, word) => test(await office(), checkId(ENDPOINT, id), word),
  };
}
