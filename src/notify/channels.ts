/** The channels. Another one is another file and its line here, and its kind in `stream.ts`. */
import type { Channel } from "./channel.ts";
import { mail } from "./mail.ts";
import { slack } from "./slack.ts";
import type { EndpointTarget } from "./stream.ts";
import { teams } from "./teams.ts";
import { webhook } from "./webhook.ts";

export const CHANNELS = { webhook, mail, slack, teams } as const satisfies {
  readonly [kind in EndpointTarget["kind"]]: Channel;
};

export const channelFor = ({ kind }: Pick<EndpointTarget, "kind">): Channel => CHANNELS[kind];
