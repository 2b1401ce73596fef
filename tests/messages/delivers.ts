/** A program that only delivers, for tests that kill it or run two of it. */
import { admin } from "../../src/admin.ts";
import { holdpoint } from "../../src/index.ts";

const [folder = "", keyFile = "", timeoutMs = "15000"] = process.argv.slice(2);
const hp = holdpoint({
  folder,
  keyFile,
  agent: "teller",
  mode: "existing",
  notify: (notice) => console.error(notice),
});
const over = new AbortController();
process.on("SIGTERM", () => over.abort());
process.stdout.write("ready\n");
await admin(hp).deliver(over.signal, { allowPrivate: true, timeoutMs: Number(timeoutMs) });
await hp.close();
