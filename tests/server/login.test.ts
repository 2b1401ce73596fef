// The page behind login links: it leads to pages of this server and to nothing else, and looks like the desk.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { runInNewContext } from "node:vm";
import { DARK_COLOURS, LIGHT_COLOURS } from "../../src/api/pages/plain-pages.ts";
import { readRoot } from "../docs/markdown.ts";
import { type Bench, serverBench } from "../fixtures/server.ts";

type Answer = { readonly status: number; readonly body: Readonly<Record<string, unknown>> } | "none";
type Part = Record<string, unknown> & { hidden: boolean; disabled: boolean; textContent: string };

const WELCOME: Answer = { status: 201, body: { person: "person:ann" } };

function part(value = ""): Part {
  const attributes = new Map<string, string>();
  return {
    ...{ value, hidden: false, disabled: false, textContent: "", attributes },
    setAttribute: (name: string, text: string) => attributes.set(name, text),
    removeAttribute: (name: string) => attributes.delete(name),
    focus: () => undefined,
    select: () => undefined,
  };
}

/** The page's script, with a browser that is none. */
async function used(
  bench: Bench,
  { search = "", hash = "", typed = "https://x.example/login#hpl_typed" },
  answer: Answer = WELCOME,
) {
  const { text } = await bench.ask(`/login${search}`);
  const script = /<script>([^<]*)<\/script><\/body>/.exec(text)?.[1] ?? assert.fail("no script");
  let submit: (event: object) => Promise<void> = async () => assert.fail("no form");
  const form = {
    addEventListener(_: string, listener: typeof submit) {
      submit = listener;
    },
  };
  const [input, button, label, said, lead] = [part(typed), part(), part(), part(), part()];
  const parts: Record<string, object> = { form, input, button, label, "#said": said, "#lead": lead };
  const sent: unknown[] = [];
  let went: string | null = null;
  let address = "";
  runInNewContext(script, {
    document: { querySelector: (name: string) => parts[name] },
    location: {
      ...{ hash, search, pathname: "/login" },
      replace(to: string) {
        went = to;
      },
    },
    history: {
      replaceState(_: null, __: string, to: string) {
        address = to;
      },
    },
    URLSearchParams,
    fetch: async (_: string, { body }: { body: string }) => {
      sent.push(JSON.parse(body));
      if (answer === "none") throw new TypeError("no network");
      return { ok: answer.status < 400, status: answer.status, json: async () => answer.body };
    },
  });
  await submit({ preventDefault: () => undefined });
  return { went, sent, said, label, button, input, address };
}

const site = (t: TestContext) => serverBench(t, { noAuth: false });

test("after the login one is at the page of the desk that one came from", async (t) => {
  const bench = await site(t);
  for (const to of [
    "/",
    "/approvals",
    "/approvals?status=decided&q=a%20b",
    "/approvals/apr_01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "/approvals/apr_01ARZ3NDEKTSV4RRFFQ69G5FAV/plain",
    "/workflows/wf_01ARZ3NDEKTSV4RRFFQ69G5FAV?tab=journal",
    "/actions/order%2042",
    "/kill-switch",
  ]) {
    const { went, sent } = await used(bench, { search: `?to=${encodeURIComponent(to)}` });
    assert.equal(went, to);
    assert.deepEqual(sent, [{ link: "hpl_typed" }]);
  }
  assert.equal((await used(bench, {})).went, "/");
});

test("no address leads to another site, or to anything that is no page", async (t) => {
  const bench = await site(t);
  const evil = [
    ...["//evil.example", "///evil.example", "/\\evil.example", "\\\\evil.example", "/\t/evil.example"],
    ...[
      "https://evil.example",
      "https:evil.example",
      "javascript:alert(1)",
      "data:text/html,x",
      "evil.example",
    ],
    ...[
      "/approvals//evil.example",
      "/approvals/../../evil",
      "/approvals@evil.example",
      "/approvals.evil.example",
    ],
    ...[
      "/.evil.example",
      "/@evil.example",
      "/api/session",
      "/login",
      "/assets/x.js",
      "/approvals/a#b",
      " /approvals",
    ],
    ...["%2F%2Fevil.example", "/%2Fevil.example", "/%5Cevil.example", "/approvals\n//evil", "/approvals/a b"],
  ];
  for (const to of evil) {
    for (const search of [
      `?to=${encodeURIComponent(to)}`,
      `?to=${encodeURIComponent(encodeURIComponent(to))}`,
    ])
      assert.equal((await used(bench, { search })).went, "/", search);
  }
});

test("the link is out of the address before anything else, and is used without being typed", async (t) => {
  const bench = await site(t);
  const { sent, label, address } = await used(bench, { search: "?to=/more", hash: "#hpl_opened", typed: "" });
  assert.deepEqual(sent, [{ link: "hpl_opened" }]);
  assert.equal(address, "/login?to=/more");
  assert.equal(label.hidden, true);
});

test("a link that is used up says so, says what to do, and leaves room for another", async (t) => {
  const bench = await site(t);
  const { status, body } = await bench.ask("/api/session", { method: "POST", body: { link: "hpl_no" } });
  assert.equal(status, 401);
  const { went, said, label, button } = await used(bench, { hash: "#hpl_old" }, { status, body });
  assert.equal(went, null);
  assert.match(said.textContent, /not valid, or no longer\. It works once.*Ask for another one/);
  assert.deepEqual([label.hidden, button.disabled], [false, false]);
});

test("another refusal, no answer and no link are said in words, and can be tried again", async (t) => {
  const bench = await site(t);
  const busy = { status: 429, body: { detail: "Too many.", next: "Wait." } };
  assert.equal((await used(bench, { hash: "#hpl_a" }, busy)).said.textContent, "Too many. Wait.");
  const lost = await used(bench, { hash: "#hpl_a" }, "none");
  assert.match(lost.said.textContent, /did not answer/);
  assert.deepEqual([lost.input["value"], lost.button.disabled], ["hpl_a", false]);
  const empty = await used(bench, { typed: " " });
  assert.match(empty.said.textContent, /no link here/);
  assert.deepEqual(empty.sent, []);
});

test("it runs what stands in it and nothing else, and has nothing of anybody's", async (t) => {
  const bench = await site(t);
  const page = await bench.ask("/login?to=%22%3E%3Cscript%3Ealert(1)%3C/script%3E");
  assert.equal(page.status, 200);
  assert.equal(page.text, (await bench.ask("/login")).text);
  const policy = String(page.headers["content-security-policy"]);
  assert.match(
    policy,
    /default-src 'none'; .*form-action 'none'; .*script-src 'sha256-[^']+' 'sha256-[^']+';/,
  );
  assert.doesNotMatch(policy, /unsafe|\*/);
  assert.equal(page.headers["cache-control"], "no-store");
  assert.match(page.text, /<label>Your link<input /);
  assert.match(page.text, /holdpoint login-link/);
});

test("its colours are those of the desk", () => {
  const [light = "", dark = ""] = readRoot("dashboard/src/style/tokens.css").split('[data-theme="dark"]');
  for (const [text, colours] of [
    [light, LIGHT_COLOURS],
    [dark, DARK_COLOURS],
  ] as const)
    for (const [name, value] of Object.entries(colours))
      assert.ok(text.includes(` --${name}: ${value};`), name);
});
