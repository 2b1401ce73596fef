/** The same on the real store, by programs that are killed. */
import { describe, type TestContext, test } from "node:test";
import { temporaryFolder } from "../fixtures/folder.ts";
import { CASES, type Ground } from "./real-store.ts";

function groundIn(context: TestContext): Ground {
  const folder = temporaryFolder(context);
  const address = JSON.stringify({ folder: folder.path, keyFile: folder.keyFile });
  return { notices: folder.notices, address, open: async (options) => folder.open(options) };
}

describe("a monitor on SQLite", () => {
  for (const [title, run] of CASES) test(title, (context) => run(groundIn(context as TestContext)));
});
