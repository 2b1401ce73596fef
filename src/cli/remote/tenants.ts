/** The tenants of an instance, asked of its server. */
import type { AnswerOf } from "../../client/client.ts";
import type { Tenant, Tenants } from "../../people/tenants/methods.ts";

import { relayed } from "./relay.ts";
import { by, given, inSeconds, type Speaker } from "./speaker.ts";

function tenantOf({
  tenant,
  home,
  status,
  by: who,
  at,
  reason,
}: AnswerOf<"GET /api/tenants/{tenant}">): Tenant {
  return { name: tenant, home, status, by: who, at: at === null ? null : Date.parse(at), reason };
}

export function remoteTenants(speaker: Speaker): Tenants {
  const { tenants } = speaker.client;
  return {
    list: ({ limit, after } = {}) =>
      relayed(async () => {
        const page = await tenants.list(given({ limit, cursor: after }));
        return { items: page.tenants.map(tenantOf), next: page.next_cursor };
      }),
    get: (name) => relayed(async () => tenantOf(await tenants.get(name))),
    add: ({ name, admin, by: who, forMs }) =>
      relayed(async () => {
        const life = forMs === undefined ? {} : { for_seconds: inSeconds(forMs) };
        const made = await tenants.add({ tenant: name, admin, ...life, ...by(speaker, who) });
        const login = { id: made.login_id, text: made.link, expiresAt: Date.parse(made.expires_at) };
        return { tenant: tenantOf(made), admin: made.admin, login };
      }),
    close: (name, { by: who, reason }) =>
      relayed(async () => tenantOf(await tenants.close(name, { reason, ...by(speaker, who) }))),
  };
}
