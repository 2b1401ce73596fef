/**
 * Endpoints: where messages go.
 *
 * D1. A secret's value never stands here: only where it is kept.
 * D2. After a rotation the secret before signs too, until the overlap is over; of older ones none does.
 * D3. One that is removed stays removed.
 */

import type { JsonObject } from "../../kernel/json.ts";
import { channelField, type Via } from "../../kernel/principal.ts";
import { endpointStream } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";

import type { LiveEndpoint, Target } from "./endpoint-state.ts";

export type EndpointTerms = {
  readonly name: string;
  readonly target: Target;
  readonly events: readonly string[];
  readonly owner: string;
};

export type EndpointAnswer =
  | { readonly kind: "done"; readonly state: LiveEndpoint }
  | { readonly kind: "unknown" | "removed" };

export type Adding = EndpointTerms &
  Via & {
    readonly endpoint: string;
    readonly secret: string | null;
    readonly by: string;
  };

type Asked = Via & { readonly endpoint: string; readonly by: string };

/** Rules for one that is there: they answer the events, if any. */
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

/** Adding the same again, because the first answer was not heard, changes nothing. */
export function addEndpoint(draft: Draft, { endpoint, ...body }: Adding): Need | EndpointAnswer {
  const ref = endpointStream(endpoint);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  if (draft.state(ref).status === "none")
    draft.append(ref, [{ type: "endpoint.added", tv: 1, body: body as unknown as JsonObject }]);
  return { kind: "done", state: draft.state(ref) as LiveEndpoint };
}

const termsOf = ({ name, target, events, owner }: EndpointTerms): JsonObject =>
  ({ name, target, events, owner }) as unknown as JsonObject;

export function changeEndpoint(
  draft: Draft,
  command: Asked & { readonly terms: Partial<EndpointTerms> },
): Need | EndpointAnswer {
  const { endpoint, by, terms } = command;
  return withEndpoint(draft, endpoint, (state) => {
    const before = termsOf(state);
    const after = termsOf({ ...state, ...terms });
    if (JSON.stringify(before) === JSON.stringify(after)) return [];
    return [{ type: "endpoint.changed", body: { ...after, by, ...channelField(command) } }];
  });
}

export function rotateSecret(
  draft: Draft,
  command: Asked & { readonly secret: string; readonly overlapMs: number },
): Need | EndpointAnswer {
  const { endpoint, by, secret, overlapMs } = command;
  return withEndpoint(draft, endpoint, ({ secrets, target }) => {
    if (target.kind !== "webhook" || secrets[0]?.secret === secret) return [];
    const body = { secret, until: draft.now + overlapMs, by, ...channelField(command) };
    return [{ type: "endpoint.rotated", body }];
  });
}

export function switchEndpoint(
  draft: Draft,
  command: Asked & { readonly reason: string; readonly on: boolean },
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
  command: Asked & { readonly reason: string },
): Need | EndpointAnswer {
  const { endpoint, by, reason } = command;
  const body = { by, reason, ...channelField(command) };
  return withEndpoint(draft, endpoint, () => [{ type: "endpoint.removed", body }]);
}
