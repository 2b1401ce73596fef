import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { storeContract } from "../../testing/testing.ts";
import { openSqliteStore } from "./open.ts";

storeContract("SQLite", async (options) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "holdpoint-contract-"));
  return {
    open: () => openSqliteStore({ folder, ...options }),
    remove: async () => fs.rmSync(folder, { recursive: true }),
  };
});
