/** A node of either version: `node.ts <command line> …`. Its lease is long enough for a machine that is busy with other things. */
import { pathToFileURL } from "node:url";

const [file = ""] = process.argv.splice(2, 1);
process.env["HOLDPOINT_LEASE_SECONDS"] = "20";
await import(pathToFileURL(file).href);
