import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { cli, makePlace, type Place, type Ran } from "./program.ts";

type Told = { readonly who: string; readonly did: string; readonly what: string };
type Played = {
  readonly result: { readonly status: string; readonly code?: string; readonly result?: { costUsd: number } };
  readonly savedUsd: number | null;
  readonly verified: { readonly ok: boolean };
  readonly story: readonly Told[];
};

/** In a folder of its own, whose temporary files can be counted. */
function demo(place: Place, ...args: readonly string[]): Ran {
  return cli({ ...place, env: { ...place.env, TMPDIR: place.folder } }, "demo", ...args);
}

function inPlace(look: (place: Place) => void): void {
  const place = makePlace();
  try {
    look(place);
  } finally {
    place.remove();
  }
}

function played(place: Place, ...args: readonly string[]): Played {
  const ran = demo(place, ...args, "--yes", "--json");
  assert.equal(ran.code, 0, ran.err);
  return JSON.parse(ran.out) as Played;
}

describe("the demos", () => {
  test("all of them together save 56,080 USD, a return of 1,095 %, and leave nothing behind", () =>
    inPlace((place) => {
      const ran = demo(place, "all", "--yes");
      assert.equal(ran.code, 0, ran.err);
      const table = ran.out.slice(ran.out.indexOf("All of them"));
      assert.match(table, /hundred pizzas +1,200 USD +120 USD +1,080 USD/);
      assert.match(table, /trade .* +10,000 USD +5,000 USD +5,000 USD/);
      assert.match(table, /deployment .* +50,000 USD +0 USD +50,000 USD/);
      assert.match(table, /In all +61,200 USD +5,120 USD +56,080 USD/);
      assert.match(table, /1,095 %/);
      assert.match(table, /Every journal was verified/);
      assert.deepEqual(
        ran.out.split("\n").filter((line) => line.length > 80),
        [],
      );
      assert.deepEqual(readdirSync(place.folder), []);
    }));

  test("pizza: unsupervised it orders a hundred; a person makes it ten", () =>
    inPlace((place) => {
      const without = played(place, "pizza", "--without");
      assert.equal(without.result.result?.costUsd, 1_200);
      const { result, savedUsd, story, verified } = played(place, "pizza", "--with");
      assert.deepEqual([result.result?.costUsd, savedUsd, verified.ok], [120, 1_080, true]);
      assert.match(story.find(({ did }) => did === "modified")?.what ?? "", /pizzas 100 → 10/);
      assert.match(story.find(({ did }) => did === "pizza.order")?.what ?? "", /^done, receipt eff_/);
    }));

  test("pizza: rejected for good, the meeting room is cancelled and the workflow has failed", () =>
    inPlace((place) => {
      const { result, story, verified } = played(place, "pizza", "--reject");
      assert.deepEqual([result.status, result.code, verified.ok], ["failed", "rejected", true]);
      const dids = story.map(({ did }) => did);
      assert.deepEqual(dids.slice(-4), ["rejected", "rolls back", "room.book.undo", "FAILED"]);
      assert.ok(!dids.includes("pizza.order"));
    }));

  test("deploy: rejected, undone newest first, tried again with the reason, approved", () =>
    inPlace((place) => {
      const ran = demo(place, "deploy", "--yes");
      assert.equal(ran.code, 0, ran.err);
      const said = ran.out.replaceAll(/\s*\n\s*│ /g, " ");
      assert.match(said, /because I was told: "The migration for the new column is missing\."/);
      const { story, savedUsd } = played(place, "deploy");
      assert.equal(savedUsd, 50_000);
      const dids = story.map(({ did }) => did);
      const back = dids.indexOf("rolls back");
      assert.deepEqual(dids.slice(back + 1, back + 3), ["staging.deploy.undo", "image.publish.undo"]);
      assert.deepEqual(dids.slice(-3), ["approved", "production.deploy", "COMPLETED"]);
    }));

  test("with a folder of one's own the journal stays, and verifies", () =>
    inPlace((place) => {
      const data = join(place.folder, "kept");
      const ran = demo(place, "legal", "--yes", "--data", data);
      assert.equal(ran.code, 0, ran.err);
      assert.match(ran.out, /our liability is limited/);
      assert.equal(cli(place, "verify", "--data", data).code, 0);
      assert.match(cli(place, "workflows", "--data", data).out, /demo\.legal/);
    }));

  test("where nobody can be asked it says that --yes is needed, and plays nothing", () =>
    inPlace((place) => {
      const ran = demo(place, "trade");
      assert.equal(ran.code, 2);
      assert.match(ran.err, /--yes/);
      assert.equal(ran.out, "");
      assert.equal(demo(place, "all", "--reject", "--yes").code, 2);
    }));
});
