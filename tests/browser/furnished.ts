/** A desk on the furnished store, at the time that it is there: for whoever only looks. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { type Desk, openDesk } from "./desk.ts";
import { setTime } from "./time.ts";
import { defineWorld, fillWorld, type World } from "./world.ts";

export async function furnishedDesk(
  context: Parameters<typeof openDesk>[0],
  browser: () => Promise<Browser>,
): Promise<{ readonly desk: Desk; readonly world: World }> {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-world-"));
  const time = setTime();
  const world = await fillWorld(folder, time);
  context.after(() => {
    time.restore();
    rmSync(folder, { recursive: true, force: true });
  });
  const policy = join(folder, "operations.json");
  const desk = await openDesk(context, { browser, folder, define: defineWorld, policy });
  return { desk, world };
}
