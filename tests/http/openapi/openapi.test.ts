// The document that the server makes of itself: whether it is one, says everything, and is enough to write a client from.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";

import { addPerson, issueApiKey } from "../../fixtures/people.ts";
import { type Bench, serverBench } from "../../fixtures/server.ts";
import { type Document, documentSchema, operationsOf, schemasOf } from "./document.ts";
import { generateClient } from "./generate.ts";

const by = "person:ann";

async function documentOf(bench: Bench): Promise<Document> {
  return documentSchema.parse((await bench.ask("/api/openapi.json")).body);
}

function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-openapi-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test("the document is OpenAPI 3.1, and every schema in it is JSON Schema 2020-12", async (t) => {
  const bench = await serverBench(t);
  const document = await documentOf(bench);
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const schemas = schemasOf(document);
  assert.ok(schemas.length > 300);
  for (const [name, schema] of schemas)
    assert.ok(
      ajv.validateSchema(schema),
      `${name}: ${ajv.errorsText(ajv.errors)} in ${JSON.stringify(schema)}`,
    );
  for (const [name, schema] of schemas.filter(([, one]) => !JSON.stringify(one).includes("$ref")))
    assert.doesNotThrow(() => ajv.compile(schema), name);
});

test("what it names is there: references, path parameters, schemes, tags; no operation has another's id", async (t) => {
  const document = await documentOf(await serverBench(t));
  const { components, tags } = document;
  for (const [reference] of JSON.stringify(document).matchAll(/"#\/[^"]+"/g)) {
    const parts = reference.slice(3, -1).split("/");
    const found = parts.reduce<unknown>((at, part) => (at as Record<string, unknown>)?.[part], document);
    assert.ok(found !== undefined, reference);
  }
  const operations = operationsOf(document);
  assert.equal(new Set(operations.map(({ operation }) => operation.operationId)).size, operations.length);
  for (const { path, operation } of operations) {
    const named = operation.parameters.filter((one) => one.in === "path").map(({ name }) => name);
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    assert.deepEqual(named.toSorted(), inPath.toSorted(), path);
    for (const tag of operation.tags)
      assert.ok(
        tags.some(({ name }) => name === tag),
        tag,
      );
    const schemes = operation.security.flatMap((one) => Object.keys(one));
    for (const scheme of schemes) assert.ok(scheme in components.securitySchemes, scheme);
    assert.ok(
      Object.keys(operation.responses).some((status) => status.startsWith("2")),
      path,
    );
    assert.ok("default" in operation.responses, path);
  }
});

/** How many the router knows: it prints each with its methods, `└── /x (GET, POST)`, below what it begins with. HEAD is that of a GET. */
function countRouted({ server }: Bench): number {
  const printed = server.app.printRoutes({ commonPrefix: false });
  const methods = [...printed.matchAll(/ \(([A-Z]+(?:, [A-Z]+)*)\)/g)].flatMap(([, names = ""]) =>
    names.split(", "),
  );
  return methods.filter((method) => method !== "HEAD").length;
}

test("every route is in the document, and everything in the document is a route", async (t) => {
  const bench = await serverBench(t);
  const named = operationsOf(await documentOf(bench)).map(
    ({ path, method }) => `${method.toUpperCase()} ${path}`,
  );
  for (const name of named) {
    const [method = "", url = ""] = name.replaceAll(/\{(\w+)\}/g, ":$1").split(" ");
    assert.ok(bench.server.app.hasRoute({ method: method as "GET", url }), name);
  }
  assert.equal(countRouted(bench), named.length);
});

const STORY = `
import { createClient, Refused } from "./client.ts";

export async function story(base: string, tokens: { readonly agent: string; readonly person: string }) {
  const agent = createClient({ base, token: tokens.agent });
  const person = createClient({ base, token: tokens.person });
  const { workflow_id: id } = await agent.post_workflows({
    body: { name: "Trip", checkpoint_names: ["Plan"] },
    key: "trip-1",
  });
  const again = await agent.post_workflows({ body: { name: "Trip", checkpoint_names: ["Plan"] }, key: "trip-1" });
  await agent.post_workflows_id_start({ path: { id } });
  await agent.post_workflows_id_checkpoints({ path: { id }, body: { checkpoint_id: "Plan", summary: "three days" } });
  const { pending_approvals: pending } = await person.get_approvals_pending();
  const request = pending[0]?.request_id ?? "";
  const refused = await agent
    .post_approvals_submit({ body: { request_id: request, decision: "APPROVED" } })
    .then(() => null, (error: unknown) => (error instanceof Refused ? error.problem.code : String(error)));
  const decided = await person.post_approvals_submit({ body: { request_id: request, decision: "APPROVED" } });
  await agent.post_workflows_id_complete({ path: { id }, body: {} });
  const { status } = await person.get_workflows_id({ path: { id } });
  return { same: again.workflow_id === id, pending: pending.length, refused, decision: decided.decision, status };
}
`;
const WRONG = `
import { createClient } from "./client.ts";
import { addPerson, issueApiKey } from "../../fixtures/people.ts";
await createClient({ base: "" }).post_approvals_submit({ body: { request_id: 1, decision: "MAYBE" } });
`;

function typeErrors(folder: string, file: string): string {
  const root = join(import.meta.dirname, "../../..");
  const options = ["--noEmit", "--strict", "--skipLibCheck", "--target", "esnext", "--module", "nodenext"];
  const more = ["--allowImportingTsExtensions", "--lib", "esnext,dom", "--types", ""];
  const program = join(root, "node_modules/typescript/bin/tsc");
  const { stdout } = spawnSync(process.execPath, [program, ...options, ...more, join(folder, file)], {
    encoding: "utf8",
    cwd: folder,
  });
  return stdout;
}

test("a client generated from the document alone is typed, and goes from creating to deciding", async (t) => {
  const bench = await serverBench(t, { noAuth: false });
  const folder = folderFor(t);
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  writeFileSync(join(folder, "client.ts"), generateClient(await documentOf(bench)));
  writeFileSync(join(folder, "story.ts"), STORY);
  writeFileSync(join(folder, "wrong.ts"), WRONG);
  assert.equal(typeErrors(folder, "story.ts"), "");
  const errors = typeErrors(folder, "wrong.ts");
  assert.match(errors, /Type 'number' is not assignable to type 'string'/);
  assert.match(errors, /"MAYBE"/);

  const { runtime } = await bench.server.office();
  await addPerson(runtime, { person: by, roles: ["supervisor"], by });
  const person = await issueApiKey(runtime, { principal: by, name: "cli", by });
  const roles = ["poster", "executor", "supervisor"] as const;
  const agent = await issueApiKey(runtime, { principal: "agent:far", name: "far", roles, by });
  const { story } = (await import(pathToFileURL(join(folder, "story.ts")).href)) as {
    story(base: string, tokens: object): Promise<object>;
  };
  assert.deepEqual(await story(bench.url, { agent: agent.text, person: person.text }), {
    same: true,
    pending: 1,
    refused: "forbidden",
    decision: "APPROVED",
    status: "completed",
  });
});
