// The reference is made a piece at a time: whoever asks for it first holds up nobody else.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Bench, serverBench } from "../fixtures/server.ts";

/** How often others had their turn until the answer came. */
async function turnsUntil(bench: Bench, path: string): Promise<number> {
  let turns = 0;
  let isOver = false;
  const turn = () => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  const { status } = await bench.ask(path);
  isOver = true;
  assert.equal(status, 200);
  return turns;
}

test("while the document and the page are made, everybody else has a turn after every route", async (t) => {
  const bench = await serverBench(t);
  const first = await turnsUntil(bench, "/api/openapi.json");
  const { paths } = (await bench.ask("/api/openapi.json")).body as { paths: Record<string, object> };
  const routes = Object.values(paths).flatMap(Object.keys).length;
  assert.ok(routes > 100);
  assert.ok(first >= routes, `${first} turns for ${routes} routes`);
  assert.ok((await turnsUntil(bench, "/docs")) >= routes);
});

test("many who ask at once get the same, made once", async (t) => {
  const bench = await serverBench(t);
  const answers = await Promise.all(Array.from({ length: 20 }, () => bench.ask("/docs")));
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
  assert.match(answers[0]?.text ?? "", /<h2>identities<\/h2>/);
});
