// Every route is made from a contract, or is listed here with the reason why it is no verb.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Route, routeName } from "../../src/api/route.ts";
import { allRoutes, type RouteParts } from "../../src/api/routes.ts";
import { CONTRACTS } from "../../src/contracts.ts";
import type { VerbContract } from "../../src/kernel/contract.ts";

/** By reason. A route that becomes a verb leaves this list. */
const BY_HAND: { readonly [reason: string]: readonly string[] } = {
  "a page, or a file of one": [
    ...["GET /", "GET /login", "GET /docs", "GET /approvals/{id}/plain", "GET /actions/{id}/plain"],
    ...["GET /approvals", "GET /approvals/{id}", "GET /workflows", "GET /workflows/{id}"],
    ...["GET /actions/{id}", "GET /in-doubt", "GET /policies", "GET /agents", "GET /activity", "GET /nodes"],
    ...["GET /kill-switch", "GET /settings", "GET /more", "GET /assets/{file}"],
  ],
  "what a page shows, made of several resources, as far as its reader may see them": [
    ...["GET /api/activity", "GET /api/attention", "GET /api/approvals/{id}/card"],
    "POST /api/approvals/{id}/try",
  ],
  "a stream: it has no end": ["GET /api/events", "GET /api/intents/stream"],
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
  "of agents that drive a workflow over HTTP": [
    ...["POST /api/workflows/{id}/start", "POST /api/workflows/{id}/checkpoints"],
    ...["POST /api/workflows/{id}/actions", "POST /api/workflows/{id}/complete"],
    ...["POST /api/workflows/{id}/fail", "GET /api/workflows/{id}/compensations"],
    "POST /api/workflows/{id}/compensations/{action}/start",
  ],
};

const nothing = {} as unknown;
const ROUTES: readonly Route[] = allRoutes({
  condition: { version: "0", ready: async () => undefined },
  ...{ audience: nothing, hands: nothing, metrics: nothing },
} as unknown as RouteParts);

test("a route is a verb's, or is listed with the reason why not", () => {
  const verbs = CONTRACTS.flatMap(({ verbs: all }): readonly VerbContract[] => Object.values(all));
  const made = new Set<string>(verbs.map(({ http }) => http));
  const others = ROUTES.map(routeName).filter((name) => !made.has(name));
  assert.deepEqual(others.toSorted(), Object.values(BY_HAND).flat().toSorted());
});
