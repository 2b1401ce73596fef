import { test } from "node:test";
import { holdpoint } from "../../src/index.ts";
import { memoryStore } from "../../src/testing/testing.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { raceFor } from "./race.ts";

test("calls that race use a grant no more often than it says: memory", async (t) => {
  const { keyFile } = temporaryFolder(t);
  const hp = holdpoint({ store: memoryStore(), keyFile, notify: () => undefined });
  await raceFor([hp]);
  await hp.close();
});

test("calls that race use a grant no more often than it says: SQLite, three instances", async (t) => {
  const folder = temporaryFolder(t);
  await raceFor([folder.open(), folder.open(), folder.open()]);
});
