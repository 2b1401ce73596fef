/** A monitor's file: YAML or JSON with its rules, or a module whose default export is what `hp.monitor` takes. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { readMonitor } from "../engine/monitor/read-monitor.ts";
import type { MonitorOptions } from "../index.ts";
import { errorText } from "../kernel/text.ts";
import type { Context } from "./command.ts";
import { CommandError } from "./failure.ts";
import { unusable } from "./policy/load.ts";
import { textOf } from "./policy/text-of.ts";

const SHAPE =
  "Its default export is a monitor, or a list of them: export default { name, rules: [{ kind, name, … }] }";

function written(context: Context, file: string): MonitorOptions {
  const read = readMonitor(textOf(file));
  if (read.ok) return read.monitor;
  const what = `The monitor ${file} cannot be used`;
  const next = "Correct the file: { monitor: <name>, rules: [{ kind, name, … }] }";
  throw unusable(context, read.findings, { file, what, next });
}

function broken(file: string, error: unknown): CommandError {
  const next = "Run it again with DEBUG=1 to see where.";
  return new CommandError("usage", `The file ${file} cannot be loaded: ${errorText(error)}`, next, error);
}

async function exported(file: string): Promise<readonly MonitorOptions[]> {
  let given: unknown;
  try {
    given = ((await import(pathToFileURL(resolve(file)).href)) as { default?: unknown }).default;
  } catch (error) {
    throw broken(file, error);
  }
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (list.length === 0 || !list.every((one) => typeof one === "object" && one !== null))
    throw new CommandError("usage", `The file ${file} exports no monitor.`, SHAPE);
  // Each is looked at in full when it starts.
  return list as readonly MonitorOptions[];
}

export async function loadMonitors(context: Context, file: string): Promise<readonly MonitorOptions[]> {
  if (!existsSync(file)) throw new CommandError("file_error", `There is no file ${file}.`, "Check the path.");
  return /\.(ya?ml|json)$/.test(file) ? [written(context, file)] : exported(file);
}
