/** A program that starts errands and never ends by itself: whoever takes them over does so because it was killed. */
import { holdpoint } from "../../src/index.ts";
import { openPostgres } from "../../src/postgres.ts";
import { declare } from "./definitions.ts";

const [database = "", folder = "", keyFile = "", many = "1"] = process.argv.slice(2);
const store = await openPostgres({ database, leaseMs: 2_000 });
const hp = holdpoint({ store, keyFile, agent: "server", notify: () => undefined });
const errand = declare(hp);
const started = Array.from({ length: Number(many) }, (_, n) => errand.start({ n, folder }));
for (const { id } of await Promise.all(started)) process.stdout.write(`${id}\n`);
process.stdout.write("started\n");
