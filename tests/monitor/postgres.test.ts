import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, type TestContext, test } from "node:test";
import { type Holdpoint, holdpoint, type Notice } from "../../src/index.ts";
import { openPostgres } from "../../src/postgres.ts";
import { type PostgresServer, startPostgres } from "../fixtures/postgres-server.ts";
import { CASES, type Ground } from "./real-store.ts";

let server: PostgresServer;
let many = 0;
const home = mkdtempSync(join(tmpdir(), "holdpoint-monitor-"));
const keyFile = join(home, "key.json");
before(async () => {
  server = await startPostgres();
});
after(async () => {
  await server.stop();
  rmSync(home, { recursive: true, force: true });
});

function groundIn(context: TestContext): Ground {
  // What was killed is taken over when its lease is over, and not before.
  const settings = { database: server.url, schema: `monitor_${++many}`, leaseMs: 4_000, connections: 4 };
  const notices: Notice[] = [];
  const opened: Holdpoint[] = [];
  context.after(async () => {
    for (const hp of opened) await hp.close().catch(() => undefined);
  });
  return {
    notices,
    address: JSON.stringify({ ...settings, keyFile }),
    async open(options = {}) {
      const store = await openPostgres(settings);
      const notify = (notice: Notice) => void notices.push(notice);
      const hp = holdpoint({ store, keyFile, agent: "tester", notify, ...options });
      opened.push(hp);
      return hp;
    },
  };
}

describe("a monitor on PostgreSQL", () => {
  for (const [title, run] of CASES) test(title, (context) => run(groundIn(context as TestContext)));
});
