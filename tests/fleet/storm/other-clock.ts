/** Loaded before a node's program: its clock is as far off as a file says, and follows that file while it runs. */
import { readFileSync } from "node:fs";

const LOOK_MS = 200;
const file = process.env["FLEET_CLOCK"] ?? "";
const True = Date;
const begun = performance.timeOrigin;
let offset = 0;

function look(): void {
  try {
    offset = Number(readFileSync(file, "utf8")) || 0;
  } catch {
    // Nobody has set it: it goes right.
  }
}

function other(this: unknown, ...given: readonly unknown[]): unknown {
  if (new.target === undefined) return new True(True.now() + offset).toString();
  const parts = given.length === 0 ? [True.now() + offset] : given;
  return Reflect.construct(True, parts, new.target === other ? True : new.target);
}
other.prototype = True.prototype;
const statics = { now: () => True.now() + offset, parse: True.parse, UTC: True.UTC };
globalThis.Date = Object.assign(other, statics) as unknown as DateConstructor;
Object.defineProperty(performance, "timeOrigin", { get: () => begun + offset });

look();
setInterval(look, LOOK_MS).unref();
