/** Implementation of the verbs of endpoints and of messages, and delivery by this process. */
import { unknownId } from "../kernel/contract.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { rejectInput } from "../kernel/fields.ts";
import { channelField } from "../kernel/principal.ts";
import { endpointStream, messageStream, ROSTER } from "../kernel/stream.ts";
import { findIds, rowPage, rowSummary } from "../runtime/lists.ts";
import { freshId, type Runtime } from "../runtime/runtime.ts";
import { readState, runCommand } from "../runtime/store-access.ts";
import { capability, decideVerb, readVerb, runVerb } from "../runtime/verb.ts";
import type { DeliveryContext, DroppedOutcome, RenderCard } from "./channel.ts";
import {
  type Endpoint,
  type EndpointChange,
  type EndpointSummary,
  type EndpointTest,
  endpoints,
  isSecretAddress,
  type MessageSummary,
  messages,
  readTarget,
  SECRET_ADDRESS,
  targetName,
} from "./contract.ts";
import {
  addEndpoint,
  changeEndpoint,
  type EndpointAnswer,
  type EndpointTerms,
  removeEndpoint,
  resolveRecipients,
  rotateSecret,
  SIGNING_SECRET_BYTES,
  signingSecretText,
  switchEndpoint,
} from "./rules/endpoint.ts";
import { requeueMessage, type SendOutcome, testEndpoint } from "./rules/message.ts";
import { runDelivery, sendMessage } from "./send.ts";
import { type DeliveryOptions, deliverySettings } from "./settings.ts";
import type { EndpointTarget } from "./stream.ts";

const unknownEndpoint = (id: string): HoldpointError => unknownId(endpoints, id, "endpoints --all");

function endpointOrThrow(id: string, answer: EndpointAnswer): Endpoint {
  switch (answer.kind) {
    case "done":
      return structuredClone({ ...answer.state, id });
    case "unknown":
      throw unknownEndpoint(id);
    case "removed":
      throw new HoldpointError("wrong_state", `The endpoint ${id} was removed.`, {
        next: "Add another endpoint.",
      });
    case "other_kind":
      return rejectInput("A webhook stays a webhook, and mail stays mail: add another endpoint.");
    case "named":
      return rejectInput(
        `The endpoint ${answer.by} has this name: choose another, or change its name first.`,
      );
  }
}

async function getEndpoint(runtime: Runtime, id: string): Promise<Endpoint> {
  const state = await readState(runtime, endpointStream(id));
  if (state.status === "none") throw unknownEndpoint(id);
  return structuredClone({ ...state, id });
}

/** Only the fields that were given. */
function givenTerms({ events, name, owner, ...where }: Partial<EndpointChange>): Partial<EndpointTerms> {
  const target = readTarget(where);
  return {
    ...(target === undefined ? {} : { target }),
    ...(events === undefined ? {} : { events: [...new Set(events)] }),
    ...(name === undefined ? {} : { name }),
    ...(owner === undefined ? {} : { owner }),
  };
}

/** A new address is of the endpoint's own kind, if no other is named. The address of a chat is not changed in place. */
async function withOwnKind<Given extends EndpointChange & { readonly id: string }>(
  runtime: Runtime,
  given: Given,
): Promise<Given> {
  const { id, url, kind } = given;
  if (url === undefined || kind !== undefined) return given;
  const { target } = await getEndpoint(runtime, id);
  if (isSecretAddress(target)) rejectInput(SECRET_ADDRESS);
  return target.kind === "mail" ? given : { ...given, kind: target.kind };
}

/** Stored before an endpoint refers to it: a secret without a reference opens nothing. */
async function keepSecret(
  runtime: Runtime,
  given?: string,
): Promise<{ readonly value: string; readonly handle: string }> {
  const value = given ?? signingSecretText(runtime.random(SIGNING_SECRET_BYTES));
  const { $secret: handle } = await runtime.secrets.put(freshId(runtime, "sec"), value);
  return { value, handle };
}

/** Of a webhook, the secret that signs; of a chat, its address; mail has none. */
async function keepTargetSecret(
  runtime: Runtime,
  target: EndpointTarget,
  secret: string | undefined,
  url: string | undefined,
) {
  if (target.kind === "mail") return null;
  return keepSecret(runtime, isSecretAddress(target) ? url : secret);
}

/** Delivery of this process. */
const deliveryContext = (runtime: Runtime, options: DeliveryOptions = {}): DeliveryContext => ({
  runtime,
  settings: deliverySettings(options, runtime.environment),
  render: (runtime.renderCard ?? (() => [])) as RenderCard,
});

function testOutcome(message: string, outcome: SendOutcome | DroppedOutcome | undefined): EndpointTest {
  if (outcome === undefined || outcome.kind === "dropped")
    return { message, arrived: false, status: null, problem: outcome?.reason ?? null };
  const { status } = outcome;
  if (outcome.kind === "delivered") return { message, arrived: true, status, problem: null };
  return { message, arrived: false, status, problem: outcome.problem };
}

/** To whom a test of mail goes; null for an address. */
async function testRecipient(runtime: Runtime, { id, target }: Endpoint): Promise<string | null> {
  if (target.kind !== "mail") return null;
  const [first] = resolveRecipients(await readState(runtime, ROSTER), target.to, []);
  return (
    first ?? rejectInput(`The endpoint ${id} has no recipient: no person whom it names has a mail address.`)
  );
}

const switchVerb = (on: boolean) =>
  decideVerb(
    (draft, { id, by, reason }: { readonly id: string; readonly by: string; readonly reason: string }, how) =>
      switchEndpoint(draft, { endpoint: id, on, by, reason, ...channelField(how) }),
    (_, answer, { id }) => endpointOrThrow(id, answer),
  );

const MOST = 1_000;

export const endpointVerbs = capability(endpoints, {
  list: readVerb(async ({ store, tenant }, { status }) => {
    const buckets = status === "any" ? ["on", "off"] : [status];
    const rows = await Promise.all(
      buckets.map((bucket) => store.query(tenant, { view: "endpoints", bucket, limit: MOST })),
    );
    return rows.flat().map((row) => rowSummary(row) as unknown as EndpointSummary);
  }),
  add: runVerb(async ({ runtime, how }, { by, secret, ...given }) => {
    const { target, events = ["*"], name, owner = by } = givenTerms(given);
    if (target === undefined) throw new TypeError("the schema lets no endpoint pass without a target");
    const kept = await keepTargetSecret(runtime, target, secret, given.url);
    const endpoint = freshId(runtime, "end");
    const terms = { target, events, name: name ?? targetName(target), owner };
    const answer = await runCommand(runtime, {}, (draft) =>
      addEndpoint(
        draft,
        { ...terms, endpoint, by, secret: kept?.handle ?? null, ...channelField(how) },
        name !== undefined,
      ),
    );
    const shown = target.kind === "webhook" ? kept?.value : undefined;
    return { ...endpointOrThrow(endpoint, answer), secret: shown ?? null };
  }),
  get: readVerb((runtime, { id }) => getEndpoint(runtime, id)),
  find: readVerb((runtime, { beginning }) => findIds(runtime, "endpoints", beginning)),
  change: decideVerb(
    (draft, { id, by, ...given }, how) =>
      changeEndpoint(draft, { endpoint: id, by, terms: givenTerms(given), ...channelField(how) }),
    (_, answer, { id }) => endpointOrThrow(id, answer),
    async (runtime, given) => ({ input: await withOwnKind(runtime, given), needs: {} }),
  ),
  rotate: runVerb(async ({ runtime, how }, { id, by, overlapMs, url }) => {
    const { target: before } = await getEndpoint(runtime, id);
    if (before.kind === "mail") return rejectInput(`The endpoint ${id} is mail: it has no secret.`);
    if (isSecretAddress(before) !== (url !== undefined))
      return rejectInput(
        url === undefined
          ? `The endpoint ${id} is a chat: give its new address as "url".`
          : `The endpoint ${id} is a webhook: its address is changed, and its secret is made here.`,
      );
    // Without a new address the rule keeps the one that the endpoint has then.
    const target = readTarget({ url, kind: before.kind });
    const { value, handle } = await keepSecret(runtime, url);
    const until = url === undefined ? { overlapMs } : { overlapMs: 0 };
    const moved = target === undefined ? {} : { target };
    const command = { endpoint: id, by, secret: handle, ...moved, ...until, ...channelField(how) };
    const answer = await runCommand(runtime, {}, (draft) => rotateSecret(draft, command));
    return { ...endpointOrThrow(id, answer), secret: url === undefined ? value : null };
  }),
  switchOff: switchVerb(false),
  switchOn: switchVerb(true),
  remove: decideVerb(
    (draft, { id, by, reason }, how) =>
      removeEndpoint(draft, { endpoint: id, by, reason, ...channelField(how) }),
    (_, answer, { id }) => endpointOrThrow(id, answer),
  ),
  test: runVerb(async ({ runtime, how }, { id, by }) => {
    const to = await testRecipient(runtime, await getEndpoint(runtime, id));
    const message = freshId(runtime, "msg");
    const command = { endpoint: id, message, by, to, ...channelField(how) };
    const answer = await runCommand(runtime, {}, (draft) => testEndpoint(draft, command));
    if (answer.kind !== "made") endpointOrThrow(id, { kind: answer.kind });
    return testOutcome(message, await sendMessage(deliveryContext(runtime), message));
  }),
});

const unknownMessage = (id: string): HoldpointError => unknownId(messages, id, "notifications");

export const messageVerbs = capability(messages, {
  list: readVerb(async (runtime, { status, order, limit = 100, after }) => {
    const list = { view: "messages", kind: "message", prefix: "msg", bucket: status } as const;
    const { rows, next } = await rowPage(runtime, { ...list, order, limit, after });
    return { items: rows.map((row) => rowSummary(row) as unknown as MessageSummary), next };
  }),
  get: readVerb(async (runtime, { id }) => {
    const state = await readState(runtime, messageStream(id));
    if (state.status === "none") throw unknownMessage(id);
    return structuredClone({ ...state, id });
  }),
  count: readVerb(({ store, tenant }, { status }) => store.count(tenant, "messages", status)),
  find: readVerb((runtime, { beginning }) => findIds(runtime, "messages", beginning)),
  retry: decideVerb(
    (draft, { id, by }, how) => requeueMessage(draft, { message: id, by, ...channelField(how) }),
    (_, answer, { id }) => {
      if (answer.kind === "requeued") return structuredClone({ ...answer.state, id });
      if (answer.kind === "unknown") throw unknownMessage(id);
      const why =
        answer.kind === "not_dead" ? `is ${answer.status}` : "belongs to an endpoint that was removed";
      throw new HoldpointError("wrong_state", `The message ${id} ${why}.`, {
        next: "Only messages that are dead are sent again; `holdpoint notifications dead` lists them.",
      });
    },
  ),
});

export type Notifications = {
  /** Makes messages of events and sends them, until the signal or `close`. Without this call nothing is sent. */
  deliver(signal?: AbortSignal, options?: DeliveryOptions): Promise<void>;
};

let deliveries = 0;

export function notificationMethods(open: () => Promise<Runtime>): Notifications {
  return {
    async deliver(signal, options = {}) {
      if (signal !== undefined && !(signal instanceof AbortSignal))
        rejectInput("Delivering takes an AbortSignal, which ends it.");
      const runtime = await open();
      const context = deliveryContext(runtime, options);
      const name = `delivery ${++deliveries}`;
      const until = signal === undefined ? runtime.closing : AbortSignal.any([signal, runtime.closing]);
      // The instance waits for it before it closes the store.
      runtime.performing.add(name);
      try {
        await runDelivery(context, until);
      } finally {
        runtime.performing.delete(name);
      }
    },
  };
}
