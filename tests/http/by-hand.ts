/** The routes that no contract has, with the reason why each is no verb. */
import { LISTED_PAGES } from "../../src/api/pages/listed-pages.ts";

export const PAGES = [
  ...["GET /", "GET /login", "GET /docs", "GET /approvals/{id}/plain", "GET /actions/{id}/plain"],
  ...["GET /approvals", "GET /approvals/{id}", "GET /workflows", "GET /workflows/{id}"],
  ...["GET /actions/{id}", "GET /in-doubt", "GET /policies", "GET /agents", "GET /activity"],
  ...["GET /kill-switch", "GET /settings", "GET /more", "GET /assets/{file}"],
  ...LISTED_PAGES.map((name) => `GET /${name}`),
];
/** `client.events()` and `client.listen()` follow them. */
export const STREAMS = ["GET /api/events", "GET /api/intents/stream"];

/** By reason. A route that becomes a verb leaves this list. */
export const BY_HAND: { readonly [reason: string]: readonly string[] } = {
  "a page, or a file of one": PAGES,
  "what a page shows, made of several resources, as far as its reader may see them": [
    ...["GET /api/activity", "GET /api/attention", "GET /api/approvals/{id}/card"],
    "POST /api/approvals/{id}/try",
  ],
  "a stream: it has no end": STREAMS,
  "a long poll: it holds a connection and a slot, and the library waits for results instead": [
    ...["GET /api/approvals/{id}/wait", "GET /api/actions/{id}/wait", "GET /api/workflows/{id}/wait"],
    ...["GET /api/intents/{id}/wait", "GET /api/intents/inbox"],
  ],
  "about the credential that asks, and its cookie: a program with the store open has none": [
    ...["POST /api/session", "GET /api/session", "DELETE /api/session"],
    ...["GET /api/sessions", "DELETE /api/sessions", "DELETE /api/sessions/{id}"],
  ],
  "about the server itself, not a tenant": [
    ...["GET /api/health", "GET /api/ready", "GET /metrics", "GET /api/openapi.json"],
    ...["GET /api/example", "POST /api/example"],
  ],
  "the seed's surface, which stays as it is": [
    ...["POST /api/workflows", "GET /api/workflows", "GET /api/workflows/{id}", "GET /api/stats"],
    ...["GET /api/approvals/pending", "POST /api/approvals/submit"],
  ],
};
