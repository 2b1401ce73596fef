/** A request to each route about what is in a furnished tenant, that fits in everything but who sends it. */
import assert from "node:assert/strict";
import type { Sent } from "../fixtures/server.ts";
import { bodySchemaOf, exampleOf, type Listed } from "./listed.ts";
import { HOLDER, type World } from "./world.ts";

export type Ids = { readonly [parameter: string]: string };

/** Whose ids stand in a path; the first that fits counts. A route that none fits has no case, and fails the test. */
const PATHS: readonly (readonly [RegExp, (world: World) => Ids])[] = [
  [/^\/api\/actions\/\{id\}\/(start|begin|outcome)$/, ({ permitted }) => ({ id: permitted })],
  [/^\/api\/(actions|receipts|history)\/\{id\}/, ({ action }) => ({ id: action })],
  [/^\/api\/journal\/\{kind\}\/\{id\}$/, ({ action }) => ({ kind: "action", id: action })],
  [/^\/actions\/\{id\}(\/plain)?$/, ({ action }) => ({ id: action })],
  [/^\/approvals\/\{id\}(\/plain)?$/, ({ approval }) => ({ id: approval })],
  [/^\/workflows\/\{id\}$/, ({ workflow }) => ({ id: workflow })],
  [/^\/assets\/\{file\}$/, () => ({ file: "none.js" })],
  [/^\/api\/alerts\/\{id\}/, ({ alert }) => ({ id: alert })],
  [/^\/api\/approvals\/\{id\}/, ({ approval }) => ({ id: approval })],
  [/^\/api\/budgets\/\{name\}$/, ({ budget }) => ({ name: budget })],
  [/^\/api\/definitions\/\{name\}/, () => ({ name: "errand-or-more" })],
  [/^\/api\/effects\/\{id\}/, ({ effect }) => ({ id: effect })],
  [/^\/api\/endpoints\/\{id\}/, ({ endpoint }) => ({ id: endpoint })],
  [/^\/api\/grants\/\{id\}/, ({ grant }) => ({ id: grant })],
  [/^\/api\/intents\/\{id\}/, ({ intent }) => ({ id: intent })],
  [/^\/api\/keys\/\{id\}/, ({ key }) => ({ id: key })],
  [/^\/api\/messages\/\{id\}/, ({ message }) => ({ id: message })],
  [/^\/api\/people\/\{person\}/, ({ person }) => ({ person })],
  [/^\/api\/policies\/trials\/\{id\}$/, ({ trial }) => ({ id: trial })],
  [/^\/api\/policies\/\{name\}$/, ({ policy }) => ({ name: policy })],
  [/^\/api\/sessions\/\{id\}$/, ({ session }) => ({ id: session })],
  [/^\/api\/tenants\/\{tenant\}/, () => ({ tenant: "acme-and-more" })],
  [
    /^\/api\/workflows\/\{id\}\/checkpoints\/\{checkpoint\}$/,
    ({ workflow }) => ({ id: workflow, checkpoint: "look" }),
  ],
  [/^\/api\/workflows\/\{id\}(\/(timeline|cancel|rollback|wait))?$/, ({ workflow }) => ({ id: workflow })],
  [/^\/api\/workflows\/\{id\}\//, ({ driven, permitted }) => ({ id: driven, action: permitted })],
];

/** What an example made from the schema alone cannot know. */
const BODIES: { readonly [name: string]: (world: World) => object } = {
  "PUT /api/budgets/{name}": () => ({ limit: { currency: "USD", micros: "2000000" } }),
  "POST /api/grants": () => ({ tool: "pay", uses: 1, for_seconds: 60, reason: "example" }),
  "POST /api/policies/check": ({ text }) => ({ text }),
  "POST /api/policies/explain": ({ action }) => ({ action_id: action }),
  "POST /api/policies/trials": ({ text }) => ({ text }),
  "POST /api/approvals/batch": ({ approval, binding }) => ({
    decisions: [{ request_id: approval, binding, decision: "approve" }],
  }),
  "POST /api/approvals/submit": ({ approval }) => ({ request_id: approval, decision: "APPROVED" }),
  "POST /api/approvals/{id}/delegate": () => ({ to: "person:supervisor", reason: "example" }),
  "POST /api/approvals/{id}/extend": () => ({ by_seconds: 60 }),
  "POST /api/approvals/{id}/try": () => ({ edit: { word: "example" } }),
  "POST /api/actions": () => ({ tool: "ship", args: {} }),
  "POST /api/actions/{id}/begin": () => ({ holder: HOLDER }),
  "POST /api/endpoints": () => ({ url: "https://example.invalid/" }),
  "PATCH /api/endpoints/{id}": () => ({ name: "example" }),
  "POST /api/workflows/{id}/actions": () => ({ tool: "ship", args: {} }),
  "POST /api/keys": () => ({ principal: "agent:example", name: "example", roles: ["executor"] }),
  "POST /api/people": () => ({ person: "person:example", roles: ["auditor"] }),
  "POST /api/tenants": () => ({ name: "example", admin: "person:example" }),
  "POST /api/intents/{id}/answer": () => ({ data: {} }),
  "POST /api/intents": () => ({ intent_type: "task", to_agent: "agent://doer" }),
};

/** What has to be said in the query. */
const QUERIES: { readonly [name: string]: string } = {
  "GET /api/alerts/find": "?beginning=alr_",
  "GET /api/approvals/find": "?beginning=apr_",
  "GET /api/effects/find": "?beginning=act_",
  "GET /api/endpoints/find": "?beginning=end_",
  "GET /api/grants/find": "?beginning=grt_",
  "GET /api/intents/find": "?beginning=int_",
  "GET /api/keys/find": "?beginning=key_",
  "GET /api/messages/count": "?status=waiting",
  "GET /api/messages/find": "?beginning=msg_",
  "GET /api/workflows/find": "?beginning=wf_",
};

export const hasIds = ({ path }: Listed): boolean => path.includes("{");

export function idsOf({ path, name }: Listed, world: World): Ids {
  if (!path.includes("{")) return {};
  const [, of] = PATHS.find(([form]) => form.test(path)) ?? [];
  return (
    of?.(world) ?? assert.fail(`${name} has no case: tests/http/requests.ts says what its path is about`)
  );
}

export function addressOf({ path, name }: Listed, ids: Ids): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, parameter: string) => {
    const value = ids[parameter] ?? assert.fail(`${name} has no case for its parameter "${parameter}"`);
    return encodeURIComponent(value);
  });
  return `${filled}${QUERIES[name] ?? ""}`;
}

/** Nothing of the same kind has this id, anywhere. */
export function unknownIds(ids: Ids): Ids {
  const isName = (parameter: string) => parameter === "kind" || parameter === "checkpoint";
  const strange = (value: string) => value.replace(/.{8}$/, "ZZZZZZZZ");
  return Object.fromEntries(
    Object.entries(ids).map(([parameter, value]) => [parameter, isName(parameter) ? value : strange(value)]),
  );
}

export function bodyOf(route: Listed, world: World): Pick<Sent, "body"> {
  const schema = bodySchemaOf(route);
  if (schema === undefined) return {};
  return { body: BODIES[route.name]?.(world) ?? exampleOf(schema) };
}
