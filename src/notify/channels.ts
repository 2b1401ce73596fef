/** The channels. Another one is another file, and its name here. */
import type { Channel } from "./channel.ts";
import { mail } from "./mail.ts";
import { slack } from "./slack.ts";
import type { EndpointTarget } from "./stream.ts";
import { teams } from "./teams.ts";
import { webhook } from "./webhook.ts";

export const CHANNELS = { webhook, mail, slack, teams } as const satisfies {
  readonly [Kind in EndpointTarget["kind"]]: Channel & { readonly kind: Kind };
};

/** Undefined: a newer version added the endpoint. */
export const channelFor = ({ kind }: Pick<EndpointTarget, "kind">): Channel | undefined => CHANNELS[kind];
