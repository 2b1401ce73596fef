/** API keys, as people list them. The hash stays in the journal. */

import type { KeyState } from "../core/key/state.ts";
import type { JsonObject } from "../kernel/json.ts";

export const keysView = {
  view: "keys",
  kind: "key",
  version: 1,
  /** By whose they are. Whether their time is over is looked at when they are listed: rows have no clock. */
  row(_id: string, state: KeyState) {
    if (state.status === "none") return undefined;
    const { status, principal, name, roles, scopes, expiresAt, by, issuedAt } = state;
    const data: JsonObject = { status, principal, name, roles, scopes, expiresAt, by, issuedAt };
    return { bucket: principal, at: issuedAt, due: null, data };
  },
} as const;
