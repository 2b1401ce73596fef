/** An endpoint's state: where messages go, what it wants to hear of, and whether it still does. */
import { HoldpointError } from "../../kernel/errors.ts";
import { eventBody, type Fold, type RecordedEvent } from "../../kernel/stream.ts";

/** A webhook, or people by mail: addresses, `person:`, `role:`, `group:` and `approvers`. */
export type Target =
  | { readonly kind: "webhook"; readonly url: string }
  | { readonly kind: "mail"; readonly to: readonly string[] };

/** Where the value is kept; never the value. `until`: from then on nothing is signed with it. */
export type SigningSecret = { readonly secret: string; readonly until: number | null };

type AddedBody = {
  readonly name: string;
  readonly target: Target;
  /** Types of messages; one may end in `*`. */
  readonly events: readonly string[];
  readonly owner: string;
  /** Null for mail. */
  readonly secret: string | null;
  readonly by: string;
};

export type SwitchedOff = { readonly at: number; readonly by: string; readonly reason: string };

export type LiveEndpoint = {
  readonly status: "on" | "off" | "removed";
  readonly name: string;
  readonly target: Target;
  readonly events: readonly string[];
  readonly owner: string;
  /** The newest first. */
  readonly secrets: readonly SigningSecret[];
  readonly addedAt: number;
  /** Messages that were given up since one last arrived. */
  readonly missed: number;
  readonly off: SwitchedOff | null;
};
export type EndpointState = { readonly status: "none" } | LiveEndpoint;

const EVENTS = [
  "endpoint.added",
  "endpoint.changed",
  "endpoint.rotated",
  "endpoint.switched_off",
  "endpoint.switched_on",
  "endpoint.missed",
  "endpoint.reached",
  "endpoint.tested",
  "endpoint.removed",
] as const;

function added(body: AddedBody, { at }: RecordedEvent): LiveEndpoint {
  const { name, target, events, owner, secret } = body;
  const secrets = secret === null ? [] : [{ secret, until: null }];
  return { status: "on", name, target, events, owner, secrets, addedAt: at, missed: 0, off: null };
}

function rotated({ secrets }: LiveEndpoint, secret: string, until: number): readonly SigningSecret[] {
  const [last] = secrets;
  return [{ secret, until: null }, ...(last === undefined ? [] : [{ ...last, until }])];
}

export const endpointFold: Fold<EndpointState> = {
  version: 1,
  initial: { status: "none" },
  isOver: (state) => state.status === "removed",
  evolve(state, event) {
    const body = eventBody("An endpoint", event, EVENTS);
    if (state.status === "none") {
      if (event.type === "endpoint.added") return added(body as unknown as AddedBody, event);
      throw new HoldpointError("broken_rule", `"${event.type}" came before the endpoint was added.`);
    }
    const said = { at: event.at, by: String(body["by"]), reason: String(body["reason"] ?? "") };
    switch (event.type as (typeof EVENTS)[number]) {
      case "endpoint.changed": {
        const { name, target, events, owner } = body as unknown as AddedBody;
        return { ...state, name, target, events, owner };
      }
      case "endpoint.rotated":
        return { ...state, secrets: rotated(state, String(body["secret"]), Number(body["until"])) };
      case "endpoint.switched_off":
        return { ...state, status: "off", off: said };
      case "endpoint.switched_on":
        return { ...state, status: "on", off: null, missed: 0 };
      case "endpoint.missed":
        return { ...state, missed: state.missed + 1 };
      case "endpoint.reached":
        return { ...state, missed: 0 };
      case "endpoint.tested":
        return state;
      case "endpoint.removed":
        return { ...state, status: "removed", off: said };
      default:
        throw new HoldpointError("broken_rule", "An endpoint is added once.");
    }
  },
};

/** What signs at a time: the newest, and the one before while both hold. */
export function secretsAt({ secrets }: LiveEndpoint, now: number): readonly string[] {
  return secrets.filter(({ until }) => until === null || until > now).map(({ secret }) => secret);
}

export const wants = ({ events }: Pick<LiveEndpoint, "events">, type: string): boolean =>
  events.some((one) => (one.endsWith("*") ? type.startsWith(one.slice(0, -1)) : one === type));
