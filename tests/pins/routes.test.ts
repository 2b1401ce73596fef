// What the server says of itself and answers to each route, for each kind of credential, for good and for bad requests.
import { test } from "node:test";
import { issueApiKey } from "../fixtures/people.ts";
import type { Answered, Sent } from "../fixtures/server.ts";
import { bodySchemaOf, type Listed } from "../http/listed.ts";
import { addressOf, bodyOf, hasIds, type Ids, idsOf, unknownIds } from "../http/requests.ts";
import { bearer, bearersOf, by, type Site } from "../http/site.ts";
import type { World } from "../http/world.ts";
import { furnishedSite } from "./furnished.ts";
import { type Names, normalise } from "./normalise.ts";
import { comparePin, readPin } from "./pin.ts";
import { collectVectors } from "./vectors.ts";

const isStream = ({ operation }: Listed): boolean =>
  JSON.stringify(operation.responses).includes("text/event-stream");

type Body = Readonly<Record<string, unknown>>;
type Entry = Readonly<Record<"stream" | "type" | "position", unknown>>;

const byText = (a: unknown, b: unknown): number =>
  Number(JSON.stringify(a) > JSON.stringify(b)) - Number(JSON.stringify(a) < JSON.stringify(b));

/** Written by readers of the log in the background, between the entries of requests. */
const isBackground = ({ stream }: Entry): boolean => /^(message|monitor|notifier)\//.test(String(stream));

function journalInOrder({ entries, ...rest }: Body): Body {
  const kept = (entries as readonly Entry[]).filter((entry) => !isBackground(entry));
  const sorted = kept
    .map(({ position: _, ...entry }) => entry)
    .toSorted((a, b) => byText([a.stream, a], [b.stream, b]));
  return { ...rest, entries: sorted };
}

const withoutAttempts = (message: Body): Body => {
  const turns = message["turns"] === undefined ? {} : { turns: "<count>" };
  return { ...message, attempts: "<count>", ...turns };
};
/** The order of the ids follows from hashes. */
const withoutIds = ({ ids }: Body): Body => ({ ids: (ids as readonly unknown[]).length });

function messagesInOrder({ messages, ...rest }: Body): Body {
  const all = (messages as readonly Body[]).map(withoutAttempts);
  return { ...rest, messages: all.toSorted((a, b) => byText(a["source"], b["source"])) };
}

/** How many entries the background has written and how many seals there are by now. */
const verifiedWithoutCounts = (body: Body): Body => ({ ...body, counts: "<counts>", last_seal: "<seal>" });

const withoutProof = (body: Body): Body => ({ ...body, size: "<count>", path: "<path>" });
const withoutProgress = (body: Body): Body => ({ ...body, read: "<count>", of: "<count>" });

const RETRY = "POST /api/messages/{id}/retry";

/** Answers that show what the background did by then, without that part. */
const STABLE: { readonly [route: string]: (body: Body) => Body } = {
  "GET /api/journal": journalInOrder,
  "GET /api/messages": messagesInOrder,
  "GET /api/messages/find": withoutIds,
  "GET /api/messages/{id}": withoutAttempts,
  [RETRY]: withoutAttempts,
  "POST /api/receipts/{id}/sign": withoutProof,
  "GET /api/policies/trials/{id}": withoutProgress,
  "POST /api/policies/trials": withoutProgress,
  "POST /api/journal/verify": verifiedWithoutCounts,
};

const isJson = ({ headers }: Answered): boolean => /json/.test(String(headers["content-type"]));

function shown(answer: Answered, { name }: Listed): string {
  const { status, headers, text } = answer;
  const type = String(headers["content-type"] ?? "no body").split(";")[0];
  if (!isJson(answer)) return `${status} ${type}, ${text === "" ? "empty" : "with a body"}`;
  const body = status < 300 ? (STABLE[name]?.(answer.body) ?? answer.body) : answer.body;
  return `${status} ${type}\n${JSON.stringify(body, null, 2)}`;
}

const statusAndCode = ({ status, body }: Answered): string =>
  typeof body["code"] === "string" && status >= 400 ? `${status} ${body["code"]}` : String(status);

type Request = Partial<Sent> & { readonly query?: string; readonly key?: boolean };
type Ask = (route: Listed, ids: Ids, sent?: Request) => Promise<Answered>;

function asking({ bench, world }: Site, headers: Record<string, string>): Ask {
  return (route, ids, { query, key, ...sent } = {}) => {
    const address = addressOf(route, ids);
    const more = query === undefined ? "" : `${address.includes("?") ? "&" : "?"}${query}`;
    const once = key === true ? { "idempotency-key": route.name } : {};
    const usual = { method: route.method, headers: { ...headers, ...once }, ...bodyOf(route, world) };
    return bench.ask(`${address}${more}`, { ...usual, ...sent });
  };
}

type Credential = { readonly who: string; readonly headers: Record<string, string>; readonly from: string };

/** One line for each answer that some credentials get, and which those are. What is asked for is unknown, so nothing changes. */
async function answersByRole(site: Site, route: Listed, credentials: readonly Credential[]): Promise<string> {
  const { world } = site;
  const nothing: World = { ...world, ...unknownIds({ approval: world.approval, text: world.text }) };
  const groups = new Map<string, string[]>();
  for (const { who, headers, from } of credentials) {
    const sent = { ...bodyOf(route, nothing), from };
    const answer = statusAndCode(await asking(site, headers)(route, unknownIds(idsOf(route, world)), sent));
    groups.set(answer, [...(groups.get(answer) ?? []), who]);
  }
  const lines = [...groups].map(([answer, whom]) => `${answer}: ${whom.join(" ")}\n`);
  return `== ${route.name}\n${lines.join("")}`;
}

async function rolesText(site: Site): Promise<string> {
  const keys = (await bearersOf(site.own)).map(({ who, role, text }) => ({
    who: `${who}/${role}`,
    headers: bearer(text),
    from: "127.0.0.1",
  }));
  let text = "";
  for (const [at, route] of site.routes.entries()) {
    if (isStream(route)) continue;
    // Each time from another address: how often one may fail is limited.
    const nobody = { who: "nobody", headers: {}, from: `10.0.0.${at}` };
    text += await answersByRole(site, route, [nobody, ...keys]);
  }
  return text;
}

/** What only reads comes first, so that it is about the furnished tenant; then what can be done before a decision. */
function turn({ method, path }: Listed): number {
  if (method === "GET") return 0;
  return /\/(retry|extend|comments|try|delegate|take-back)$/.test(path) ? 1 : 2;
}

/** Sent with an Idempotency-Key, which writes what was answered into the journal. */
const ONCE = new Set(["POST /api/grants", "POST /api/approvals/{id}/cancel"]);

/** What an agent does from outside is done with the key of the agent that drives the workflow; the rest by a person with every role. */
const isOfAgent = ({ path }: Listed): boolean =>
  /^\/api\/(workflows\/\{id\}\/(start|checkpoints|actions|complete|fail|comp)|actions\/\{id\}\/(start|begin|outcome))/.test(
    path,
  );

async function goodText(site: Site, names: Names): Promise<string> {
  const far = { principal: "agent:far", name: "far", roles: ["executor", "poster"] as const, by };
  const asAgent = asking(site, bearer((await issueApiKey(site.own, far)).text));
  const asPerson = asking(
    site,
    bearer((await issueApiKey(site.own, { principal: by, name: "root", by })).text),
  );
  const inOrder = site.routes.toSorted((a, b) => turn(a) - turn(b));
  const blocks: string[] = [];
  for (const route of inOrder) {
    if (isStream(route) || route.name === "GET /api/openapi.json") continue;
    const ask = route.method !== "GET" && isOfAgent(route) ? asAgent : asPerson;
    const answer = await ask(route, idsOf(route, site.world), { key: ONCE.has(route.name) });
    blocks.push(normalise(`== ${route.name}\n${shown(answer, route)}\n`, names));
  }
  return blocks.join("");
}

/** Requests that no route takes, each with what is wrong about it. */
function badRequests(route: Listed): readonly (readonly [string, Partial<Sent>])[] {
  if (bodySchemaOf(route) === undefined) return [];
  return [
    ["body is no JSON", { body: "{" }],
    ["body is a list", { body: [] }],
    ["body has only an unknown field", { body: { unknown_field: 1 } }],
  ];
}

async function badText(site: Site, ask: Ask, names: Names): Promise<string> {
  const blocks: string[] = [];
  for (const route of site.routes) {
    if (isStream(route)) continue;
    const ids = idsOf(route, site.world);
    const note = async (what: string, answer: Answered) =>
      blocks.push(normalise(`== ${route.name}: ${what}\n${shown(answer, route)}\n`, names));
    for (const [what, sent] of badRequests(route)) await note(what, await ask(route, ids, sent));
    if (hasIds(route)) await note("unknown id", await ask(route, unknownIds(ids)));
    if (route.method === "GET" && route.path.startsWith("/api/")) {
      await note("bad query", await ask(route, ids, { query: "limit=-1&unknown_parameter=1" }));
    }
  }
  return blocks.join("");
}

/** Each request finds what those before it left, so a new route comes last. */
function inPinnedOrder(routes: readonly Listed[]): readonly Listed[] {
  const pinned = [...readPin("routes/roles.txt").matchAll(/^== (.+)$/gm)].map(([, name]) => name);
  const rank = ({ name }: Listed) => (pinned.includes(name) ? pinned.indexOf(name) : pinned.length);
  return routes.toSorted((a, b) => rank(a) - rank(b));
}

test("the server", async (t) => {
  const { site: furnished, names, root } = await furnishedSite(t);
  const site = { ...furnished, routes: inPinnedOrder(furnished.routes) };
  const { own, bench } = site;
  const ask = asking(site, root);

  await t.test("describes itself as pinned", async () => {
    const { body } = await bench.ask("/api/openapi.json");
    comparePin("openapi.json", `${JSON.stringify(body, null, 2)}\n`);
  });
  await t.test("answers requests that fit as pinned", async () => {
    comparePin("routes/good.txt", await goodText(site, names));
  });
  await t.test("refuses requests that do not fit as pinned", async () => {
    comparePin("routes/bad.txt", await badText(site, ask, names));
  });
  await t.test("answers each kind of credential and role as pinned", async () => {
    comparePin("routes/roles.txt", await rolesText(site));
  });
  await t.test("writes entries with the pinned bytes and hashes", async () => {
    const vectors = collectVectors(names);
    for (const { header, body } of await own.store.log(own.tenant, 0, 1_000_000))
      vectors.add({ header, body: body ?? "null" });
    comparePin("journal/server.txt", vectors.text());
  });
});
