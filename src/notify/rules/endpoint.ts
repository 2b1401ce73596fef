/**
 * Endpoints: where messages go, who receives a mail, and how webhooks are signed (Standard Webhooks: HMAC-SHA256 over
 * `id.timestamp.body`, once for each valid secret).
 * - Only a secret's handle is here, never its value. After a rotation the previous secret also signs during the
 *   overlap; older ones never do.
 * - A removed endpoint stays removed. Recipients follow the roster when a message is made, and again when it is sent.
 */
import { createHmac } from "node:crypto";
import { delegationsIn, isEligible } from "../../approvals/rules/quorum.ts";
import type { LiveApproval } from "../../approvals/state.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { channelField, type Via } from "../../kernel/principal.ts";
import { endpointStream } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";
import { peopleAmong, type RosterState } from "../../people/stream.ts";
import { type EndpointTarget, endpointAddress, endpointNamesView, type LiveEndpoint } from "../stream.ts";

export type EndpointTerms = {
  readonly name: string;
  readonly target: EndpointTarget;
  readonly events: readonly string[];
  readonly owner: string;
};

export type EndpointAnswer =
  | { readonly kind: "done"; readonly state: LiveEndpoint }
  /** `other_kind`: a webhook does not become mail, nor mail a webhook. */
  | { readonly kind: "unknown" | "removed" | "other_kind" }
  /** `by`: the endpoint that has the name. */
  | { readonly kind: "named"; readonly by: string };

type AddEndpointCommand = EndpointTerms &
  Via & {
    readonly endpoint: string;
    readonly secret: string | null;
    readonly by: string;
  };

type EndpointCommand = Via & { readonly endpoint: string; readonly by: string };

/** For an existing endpoint: `rules` returns the events to append, if any. */
function withEndpoint(
  draft: Draft,
  id: string,
  rules: (state: LiveEndpoint) => readonly { readonly type: string; readonly body: JsonObject }[],
): Need | EndpointAnswer {
  const ref = endpointStream(id);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  const state = draft.state(ref);
  if (state.status === "none") return { kind: "unknown" };
  if (state.status === "removed") return { kind: "removed" };
  draft.append(
    ref,
    rules(state).map((event) => ({ ...event, tv: 1 })),
  );
  return { kind: "done", state: draft.state(ref) as LiveEndpoint };
}

/** Another endpoint of the kind that has the name. */
function findNamed(
  draft: Draft,
  endpoint: string,
  terms: Pick<EndpointTerms, "target" | "name">,
): Need | { readonly kind: "free" } | Extract<EndpointAnswer, { kind: "named" }> {
  const key = { view: endpointNamesView.view, key: endpointAddress(terms) };
  const more = draft.need({ index: [key] });
  if (more !== undefined) return more;
  const other = draft.index(key).find(({ stream }) => stream.id !== endpoint);
  return other === undefined ? { kind: "free" } : { kind: "named", by: other.stream.id };
}

/** Adding the same endpoint again, after a lost answer, changes nothing. `isNamed`: a person chose the name. */
export function addEndpoint(
  draft: Draft,
  { endpoint, ...body }: AddEndpointCommand,
  isNamed = false,
): Need | EndpointAnswer {
  const ref = endpointStream(endpoint);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  if (draft.state(ref).status === "none") {
    const named = isNamed ? findNamed(draft, endpoint, body) : { kind: "free" as const };
    if (named.kind !== "free") return named;
    draft.append(ref, [{ type: "endpoint.added", tv: 1, body: body as unknown as JsonObject }]);
  }
  return { kind: "done", state: draft.state(ref) as LiveEndpoint };
}

const termsOf = ({ name, target, events, owner }: EndpointTerms): JsonObject =>
  ({ name, target, events, owner }) as unknown as JsonObject;

export function changeEndpoint(
  draft: Draft,
  command: EndpointCommand & { readonly terms: Partial<EndpointTerms> },
): Need | EndpointAnswer {
  const { endpoint, by, terms } = command;
  const ref = endpointStream(endpoint);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  const before = draft.state(ref);
  if (terms.target !== undefined && before.status !== "none" && before.target.kind !== terms.target.kind)
    return { kind: "other_kind" };
  if (terms.name !== undefined && before.status !== "none" && before.name !== terms.name) {
    const named = findNamed(draft, endpoint, { ...before, name: terms.name });
    if (named.kind !== "free") return named;
  }
  return withEndpoint(draft, endpoint, (state) => {
    const before = termsOf(state);
    const after = termsOf({ ...state, ...terms });
    if (JSON.stringify(before) === JSON.stringify(after)) return [];
    return [{ type: "endpoint.changed", body: { ...after, by, ...channelField(command) } }];
  });
}

/** Another secret: what signs a webhook, or the address of a chat (`target` is then where it leads). */
export function rotateSecret(
  draft: Draft,
  command: EndpointCommand & {
    readonly target?: EndpointTarget;
    readonly secret: string;
    readonly overlapMs: number;
  },
): Need | EndpointAnswer {
  const { endpoint, by, secret, overlapMs } = command;
  return withEndpoint(draft, endpoint, (state) => {
    const { target = state.target } = command;
    if (target.kind === "mail" || target.kind !== state.target.kind || state.secrets[0]?.secret === secret)
      return [];
    const after = termsOf({ ...state, target });
    const isMoved = JSON.stringify(termsOf(state)) !== JSON.stringify(after);
    const how = { by, ...channelField(command) };
    return [
      ...(isMoved ? [{ type: "endpoint.changed", body: { ...after, ...how } }] : []),
      { type: "endpoint.rotated", body: { secret, until: draft.now + overlapMs, ...how } },
    ];
  });
}

export function switchEndpoint(
  draft: Draft,
  command: EndpointCommand & { readonly reason: string; readonly on: boolean },
): Need | EndpointAnswer {
  const { endpoint, by, reason, on } = command;
  return withEndpoint(draft, endpoint, ({ status }) => {
    if ((status === "on") === on) return [];
    const body = { by, reason, ...channelField(command) };
    return [{ type: on ? "endpoint.switched_on" : "endpoint.switched_off", body }];
  });
}

export function removeEndpoint(
  draft: Draft,
  command: EndpointCommand & { readonly reason: string },
): Need | EndpointAnswer {
  const { endpoint, by, reason } = command;
  const body = { by, reason, ...channelField(command) };
  return withEndpoint(draft, endpoint, () => [{ type: "endpoint.removed", body }]);
}

/** The people who may decide the approval that a message is about. */
export const APPROVERS_RECIPIENT = "approvers";

/** People whom the rule names or who were delegated a vote, if they may decide now. Without names: none. */
function peopleAsked(approval: LiveApproval, roster: RosterState): readonly string[] {
  const seats = delegationsIn(approval, approval.stage).map(({ to }) => to);
  const named = peopleAmong(roster, [...(approval.approvers.from ?? []), ...seats]);
  return named.filter((person) => isEligible(approval, roster, person));
}

/** Recipients among the approvers. They get a comment only if the requesting agent wrote it. */
export function peopleToNotify(
  approval: LiveApproval,
  roster: RosterState,
  { type, body }: { readonly type: string; readonly body: JsonObject },
): readonly string[] {
  const isAmongThem = type === "approval.commented" && body["by"] !== approval.agent;
  return isAmongThem ? [] : peopleAsked(approval, roster);
}

function isReachable({ members, suspended }: RosterState, person: string): boolean {
  return members.get(person)?.mail != null && !suspended.includes(person);
}

const isListed = (name: string): boolean => name.startsWith("role:") || name.startsWith("group:");

/**
 * Each recipient once. A person named directly is included even without an address, so that it shows; of roles, groups
 * and approvers only reachable people.
 */
export function resolveRecipients(
  roster: RosterState,
  to: readonly string[],
  approvers: readonly string[],
): readonly string[] {
  const named = to.filter((name) => name !== APPROVERS_RECIPIENT && !isListed(name));
  const meant = [...to.filter(isListed), ...(to.includes(APPROVERS_RECIPIENT) ? approvers : [])];
  const listed = peopleAmong(roster, meant).filter((person) => isReachable(roster, person));
  return [...new Set([...named, ...listed])];
}

/** null if the person has no address, or is suspended. */
export function mailAddressOf(roster: RosterState, to: string): string | null {
  if (!to.startsWith("person:")) return to;
  return isReachable(roster, to) ? (roster.members.get(to)?.mail ?? null) : null;
}

const SECRET_PREFIX = "whsec_";
const SECRET_FORM = /^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/;
const MIN_SECRET_BYTES = 24;
const MAX_SECRET_BYTES = 64;
export const SIGNING_SECRET_BYTES = 32;

export const signingSecretText = (bytes: Uint8Array): string =>
  SECRET_PREFIX + Buffer.from(bytes).toString("base64");

export function isSigningSecret(text: unknown): text is string {
  if (typeof text !== "string" || !SECRET_FORM.test(text)) return false;
  const bytes = Buffer.from(text.slice(SECRET_PREFIX.length), "base64");
  return (
    bytes.length >= MIN_SECRET_BYTES && bytes.length <= MAX_SECRET_BYTES && signingSecretText(bytes) === text
  );
}

type SignedRequest = { readonly id: string; readonly seconds: number; readonly body: string };

const signatureOf = (secret: string, { id, seconds, body }: SignedRequest): string =>
  createHmac("sha256", Buffer.from(secret.slice(SECRET_PREFIX.length), "base64"))
    .update(`${id}.${seconds}.${body}`)
    .digest("base64");

export function webhookHeaders(
  secrets: readonly string[],
  signed: SignedRequest,
): Readonly<Record<string, string>> {
  return {
    "webhook-id": signed.id,
    "webhook-timestamp": String(signed.seconds),
    "webhook-signature": secrets.map((secret) => `v1,${signatureOf(secret, signed)}`).join(" "),
  };
}
