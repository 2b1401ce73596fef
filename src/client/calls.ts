/**
 * One call a route, by resource; those of contracts are generated. A test compares this table with the list of routes in both directions; only pages for people
 * and the stream of events are not in it.
 */
import type { NameAlone, NameWithBody, NameWithQuery, RouteName } from "./call-types.ts";
import { CONTRACT_CALLS } from "./contract-calls.ts";

export type CallFacts<Name extends RouteName = RouteName> = {
  readonly route: Name;
  readonly takes: "nothing" | "query" | "body";
  /**
   * The server does not answer a repetition with the first answer: an Idempotency-Key is worth nothing. It is not sent again
   * by itself, unless it can be done any number of times.
   */
  readonly unkept?: "repeatable" | "once";
  /** What it answers is not JSON. */
  readonly isText?: true;
};

const alone = <const Name extends NameAlone>(route: Name): CallFacts<Name> => ({ route, takes: "nothing" });
const query = <const Name extends NameWithQuery>(route: Name): CallFacts<Name> => ({ route, takes: "query" });
const body = <const Name extends NameWithBody>(route: Name): CallFacts<Name> => ({ route, takes: "body" });
const unkept = <Name extends RouteName>(facts: CallFacts<Name>): CallFacts<Name> => ({
  ...facts,
  unkept: "once",
});
const repeatable = <Name extends RouteName>(facts: CallFacts<Name>): CallFacts<Name> => ({
  ...facts,
  unkept: "repeatable",
});
const text = <Name extends RouteName>(facts: CallFacts<Name>): CallFacts<Name> => ({
  ...facts,
  isText: true,
});

export const CALLS = {
  workflows: {
    create: body("POST /api/workflows"),
    list: query("GET /api/workflows"),
    get: alone("GET /api/workflows/{id}"),
    stats: alone("GET /api/stats"),
    start: body("POST /api/workflows/{id}/start"),
    reach: body("POST /api/workflows/{id}/checkpoints"),
    propose: body("POST /api/workflows/{id}/actions"),
    complete: body("POST /api/workflows/{id}/complete"),
    fail: body("POST /api/workflows/{id}/fail"),
    compensations: alone("GET /api/workflows/{id}/compensations"),
    compensate: repeatable(body("POST /api/workflows/{id}/compensations/{action}/start")),
    timeline: alone("GET /api/workflows/{id}/timeline"),
    jobs: alone("GET /api/workflows/{id}/jobs"),
    checkpoint: alone("GET /api/workflows/{id}/checkpoints/{checkpoint}"),
    cancel: body("POST /api/workflows/{id}/cancel"),
    rollbackOutlook: alone("GET /api/workflows/{id}/rollback"),
    rollback: body("POST /api/workflows/{id}/rollback"),
    wait: query("GET /api/workflows/{id}/wait"),
  },
  definitions: {
    start: body("POST /api/definitions/{name}/start"),
  },
  actions: {
    list: query("GET /api/actions"),
    get: alone("GET /api/actions/{id}"),
    propose: body("POST /api/actions"),
    start: repeatable(body("POST /api/actions/{id}/start")),
    begin: unkept(body("POST /api/actions/{id}/begin")),
    report: body("POST /api/actions/{id}/outcome"),
    resolve: body("POST /api/effects/{id}/resolve"),
    wait: query("GET /api/actions/{id}/wait"),
  },
  approvals: {
    ...CONTRACT_CALLS.approvals,
    pending: query("GET /api/approvals/pending"),
    card: alone("GET /api/approvals/{id}/card"),
    tryEdit: repeatable(body("POST /api/approvals/{id}/try")),
    attention: alone("GET /api/attention"),
    activity: query("GET /api/activity"),
    submit: body("POST /api/approvals/submit"),
    wait: query("GET /api/approvals/{id}/wait"),
  },
  intents: {
    list: query("GET /api/intents"),
    inbox: query("GET /api/intents/inbox"),
    get: alone("GET /api/intents/{id}"),
    wait: query("GET /api/intents/{id}/wait"),
    send: body("POST /api/intents"),
    acknowledge: body("POST /api/intents/{id}/acknowledge"),
    waiting: body("POST /api/intents/{id}/waiting"),
    answer: body("POST /api/intents/{id}/answer"),
    cancel: body("POST /api/intents/{id}/cancel"),
  },
  receipts: {
    get: alone("GET /api/receipts/{id}"),
    sign: alone("POST /api/receipts/{id}/sign"),
  },
  journal: {
    list: query("GET /api/journal"),
    stream: query("GET /api/journal/{kind}/{id}"),
    history: alone("GET /api/history/{id}"),
    verify: unkept(body("POST /api/journal/verify")),
  },
  killSwitch: {
    get: query("GET /api/kill-switch"),
    stops: query("GET /api/kill-switch/stops"),
    stop: body("POST /api/kill-switch/stop"),
    release: body("POST /api/kill-switch/release"),
  },
  grants: CONTRACT_CALLS.grants,
  budgets: {
    list: query("GET /api/budgets"),
    get: alone("GET /api/budgets/{name}"),
    set: body("PUT /api/budgets/{name}"),
  },
  policies: {
    list: alone("GET /api/policies"),
    get: alone("GET /api/policies/{name}"),
    check: repeatable(body("POST /api/policies/check")),
    explain: repeatable(body("POST /api/policies/explain")),
    beginTrial: unkept(body("POST /api/policies/trials")),
    trial: alone("GET /api/policies/trials/{id}"),
    suggestions: query("GET /api/policies/suggestions"),
  },
  alerts: {
    list: query("GET /api/alerts"),
    get: alone("GET /api/alerts/{id}"),
    acknowledge: body("POST /api/alerts/{id}/acknowledge"),
  },
  endpoints: {
    list: query("GET /api/endpoints"),
    add: unkept(body("POST /api/endpoints")),
    get: alone("GET /api/endpoints/{id}"),
    change: body("PATCH /api/endpoints/{id}"),
    rotate: unkept(body("POST /api/endpoints/{id}/rotate")),
    switchOff: body("POST /api/endpoints/{id}/off"),
    switchOn: body("POST /api/endpoints/{id}/on"),
    test: body("POST /api/endpoints/{id}/test"),
    remove: body("POST /api/endpoints/{id}/remove"),
  },
  messages: {
    list: query("GET /api/messages"),
    get: alone("GET /api/messages/{id}"),
    retry: body("POST /api/messages/{id}/retry"),
  },
  session: {
    open: unkept(body("POST /api/session")),
    get: alone("GET /api/session"),
    end: alone("DELETE /api/session"),
    list: alone("GET /api/sessions"),
    endOne: alone("DELETE /api/sessions/{id}"),
    endAll: alone("DELETE /api/sessions"),
  },
  people: {
    list: alone("GET /api/people"),
    add: body("POST /api/people"),
    get: alone("GET /api/people/{person}"),
    change: body("PATCH /api/people/{person}"),
    loginLink: unkept(body("POST /api/people/{person}/login-link")),
    remove: body("POST /api/people/{person}/remove"),
    suspend: body("POST /api/people/{person}/suspend"),
    reinstate: body("POST /api/people/{person}/reinstate"),
  },
  keys: {
    list: query("GET /api/keys"),
    issue: unkept(body("POST /api/keys")),
    get: alone("GET /api/keys/{id}"),
    rotate: unkept(body("POST /api/keys/{id}/rotate")),
    revoke: body("POST /api/keys/{id}/revoke"),
  },
  tenants: {
    list: query("GET /api/tenants"),
    add: unkept(body("POST /api/tenants")),
    get: alone("GET /api/tenants/{tenant}"),
    close: body("POST /api/tenants/{tenant}/close"),
  },
  nodes: {
    list: query("GET /api/nodes"),
  },
  server: {
    health: alone("GET /api/health"),
    ready: alone("GET /api/ready"),
    metrics: text(alone("GET /metrics")),
    library: query("GET /api/library"),
    openApi: alone("GET /api/openapi.json"),
    example: alone("GET /api/example"),
    askExample: body("POST /api/example"),
  },
} as const satisfies { readonly [resource: string]: { readonly [call: string]: CallFacts } };

/** Pages for people, and the streams that `client.events()` and `client.listen()` follow. */
export const NO_CALL: readonly RouteName[] = [
  "GET /login",
  "GET /docs",
  "GET /approvals/{id}/plain",
  "GET /actions/{id}/plain",
  "GET /",
  "GET /approvals",
  "GET /approvals/{id}",
  "GET /workflows",
  "GET /workflows/{id}",
  "GET /actions/{id}",
  "GET /in-doubt",
  "GET /policies",
  "GET /agents",
  "GET /activity",
  "GET /nodes",
  "GET /kill-switch",
  "GET /settings",
  "GET /more",
  "GET /assets/{file}",
  "GET /api/events",
  "GET /api/intents/stream",
];
