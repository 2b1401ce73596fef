/**
 * `holdpoint demo refund`: somebody asks for 1200 USD back, and over 1000 a person decides. Nobody's part is played unless
 * that is asked for, so the run is kept where a second terminal, or this command once more, finds it.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Context, EXIT, flag, isOn, whereFlags } from "../shell/command.ts";
import { CommandError } from "../shell/failure.ts";
import { locateStore } from "../shell/files.ts";
import { PersonLeft } from "../shell/prompt.ts";

import { type Person, playRun, type Stage } from "./refund-play.ts";

const KEPT = ".holdpoint-demo";
const OUTSIDE = "outside.log";
const CAP_USD = 800;

function usd(context: Context, name: string): number | null {
  const typed = flag(context, name);
  if (typed === undefined) return null;
  if (/^\d{1,7}(?:\.\d{1,2})?$/.test(typed) && Number(typed) > 0) return Number(typed);
  throw new CommandError("usage", `--${name} "${typed}" is not an amount of USD.`, `Such as --${name} 800`);
}

function personOf(context: Context): Person {
  if (isOn(context, "reject") && isOn(context, "approve-cap"))
    throw new CommandError("usage", "Choose one of --reject and --approve-cap.", "Leave one out.");
  if (isOn(context, "reject")) return { kind: "rejects" };
  const isPlayed = isOn(context, "yes") || isOn(context, "approve-cap");
  return isPlayed ? { kind: "caps", at: usd(context, "approve-cap") ?? CAP_USD } : { kind: "real" };
}

type Place = Pick<Stage, "store" | "outside" | "where"> & {
  /** Removed when the run is over. */
  readonly own: string | null;
};

function placeFor(context: Context, { kind }: Person): Place {
  if (context.values.has("data") || context.values.has("database")) {
    const { where: store } = locateStore(context.values);
    const folder = "folder" in store ? store.folder : resolve(KEPT);
    mkdirSync(folder, { recursive: true });
    return { store, outside: join(folder, OUTSIDE), where: whereFlags(context), own: null };
  }
  if (kind === "real") {
    const own = resolve(KEPT);
    return { store: { folder: own }, outside: join(own, OUTSIDE), where: ` --data ${KEPT}`, own };
  }
  const own = mkdtempSync(join(tmpdir(), "holdpoint-demo-"));
  const store = { folder: join(own, "store"), keyFile: join(own, "key.json") };
  return { store, outside: join(own, OUTSIDE), where: "", own };
}

export async function playRefund(context: Context): Promise<number> {
  const extra = ["without", "with"].find((name) => isOn(context, name));
  if (extra !== undefined)
    throw new CommandError("usage", `demo refund has no --${extra}.`, "Try: holdpoint demo --help");
  const amount = usd(context, "amount");
  const person = personOf(context);
  const { own, ...place } = placeFor(context, person);
  const again = `npx holdpoint demo refund${own === null ? place.where : ""}`;
  const left = new AbortController();
  const leave = () => left.abort();
  process.once("SIGINT", leave);
  let isOver = person.kind !== "real";
  try {
    const code = await playRun(context, { ...place, again, amount, person, signal: left.signal });
    isOver = true;
    return code;
  } catch (error) {
    if (!(error instanceof PersonLeft)) throw error;
    context.terminal.note(`  It still waits. Go on with: ${again}`);
    return EXIT.interrupted;
  } finally {
    process.removeListener("SIGINT", leave);
    if (isOver && own !== null) rmSync(own, { recursive: true, force: true });
  }
}
