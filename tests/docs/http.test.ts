// docs/reference/http.md and settings.md say what the server does, in both directions.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics } from "../../src/api/metrics/metrics.ts";
import { type Route, scopesOfRoute } from "../../src/api/route.ts";
import { allRoutes, type RouteParts } from "../../src/api/routes.ts";
import { SETTINGS } from "../../src/api/settings.ts";

import { readRoot } from "./markdown.ts";

const nothing = {} as unknown;
const PARTS = {
  condition: { version: "0", ready: async () => undefined },
  ...{ audience: nothing, hands: nothing, metrics: nothing },
} as unknown as RouteParts;

function section(page: string, title: string): string {
  return readRoot(page).split(`\n## ${title}\n`)[1]?.split("\n## ")[0] ?? assert.fail(`no section ${title}`);
}

const rowsOf = (text: string): readonly (readonly string[])[] =>
  text
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );

function scopeText(route: Route): string {
  const { scope } = route;
  if (scope === "public") return "none needed";
  if (scope === "any") return "any";
  return scopesOfRoute(route)
    .map((one) => `\`${one}\``)
    .join(" or ");
}

test("docs/reference/http.md has every route with its scope and what it does, and no other", () => {
  const written = rowsOf(section("docs/reference/http.md", "Routes")).map((cells) => cells.join(" · "));
  const coded = allRoutes(PARTS).map(
    (route) => `\`${route.method} ${route.path}\` · ${scopeText(route)} · ${route.summary}`,
  );
  assert.deepEqual(written, coded);
});

test("docs/reference/http.md has every metric, and no other", async () => {
  const none = async () => 0;
  const nothing = { workflows: 0, effects: 0, epochs: [], leaseLeftMs: null };
  const node = { kind: "server", version: "0", inHand: async () => nothing };
  const standing = { inDoubt: none, pending: none, listeners: () => 0, holds: () => 0, node };
  const text = await createMetrics(standing).text("all");
  const coded = [...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name);
  const written = rowsOf(section("docs/reference/http.md", "Metrics")).map(([name]) =>
    name?.replaceAll("`", ""),
  );
  assert.deepEqual(written.toSorted(), coded.toSorted());
});

test("docs/reference/settings.md has every setting of the server with its variables, its flag and its default, and no other", () => {
  const written = rowsOf(section("docs/reference/settings.md", "Server")).map(
    ([variables, flag, , fallback]) => ({
      variables: [...(variables ?? "").matchAll(/`(\w+)`/g)].map(([, name]) => name),
      flag: flag?.replaceAll("`", "") ?? "",
      fallback,
    }),
  );
  for (const [index, setting] of Object.values(SETTINGS).entries()) {
    const row = written[index];
    assert.deepEqual(row?.variables, setting.variables);
    assert.equal(row?.flag, "flag" in setting ? `--${setting.flag}` : "");
    const fallback = "fallback" in setting ? setting.fallback : undefined;
    if (["string", "number", "boolean"].includes(typeof fallback))
      assert.equal(row?.fallback, String(fallback));
  }
  assert.equal(written.length, Object.keys(SETTINGS).length);
});
