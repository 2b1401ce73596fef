/** The verbs about messages to the outside that an embedding program holds in its hands. */
import { rejectInput } from "../../kernel/fields.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import type { Environment } from "../../runtime/settings.ts";

import { deliver } from "./deliver.ts";
import { type Endpoints, endpointsOf } from "./endpoints.ts";
import { type Messages, messagesOf } from "./messages.ts";
import { type DeliveryOptions, deliverySettings } from "./settings.ts";
import type { RenderCard } from "./shown.ts";

export type Notifications = {
  /** Where messages go. */
  readonly endpoints: Endpoints;
  /** What was, is and will be sent. */
  readonly messages: Messages;
  /** Makes messages of what happens and sends them, until the signal or `close`. Nothing is sent where nobody calls it. */
  deliver(signal?: AbortSignal, options?: DeliveryOptions): Promise<void>;
};

type Surroundings = { readonly environment: Environment; readonly render: RenderCard };

let deliveries = 0;

async function deliverUntil(
  open: () => Promise<Runtime>,
  { environment, render }: Surroundings,
  signal: AbortSignal | undefined,
  options: DeliveryOptions,
): Promise<void> {
  if (signal !== undefined && !(signal instanceof AbortSignal))
    rejectInput("Delivering takes an AbortSignal, which ends it.");
  const settings = deliverySettings(options, environment);
  const runtime = await open();
  const name = `delivery ${++deliveries}`;
  const until = signal === undefined ? runtime.closing : AbortSignal.any([signal, runtime.closing]);
  // The instance waits for it before it lets go of the store.
  runtime.performing.add(name);
  try {
    await deliver({ runtime, settings, render }, until);
  } finally {
    runtime.performing.delete(name);
  }
}

export function notificationsOf(open: () => Promise<Runtime>, around: Surroundings): Notifications {
  const { environment, render } = around;
  const office = async () => ({
    runtime: await open(),
    settings: deliverySettings({}, environment),
    render,
  });
  return {
    endpoints: endpointsOf(open, office),
    messages: messagesOf(open),
    deliver: (signal, options = {}) => deliverUntil(open, around, signal, options),
  };
}
