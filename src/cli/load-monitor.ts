/**
 * A monitor's file: YAML or JSON with its rules (each fault by line and column), or a module whose default export is
 * the input of `hp.monitor`. Loaded only by `holdpoint monitor`.
 */

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type MonitorOptions, readMonitorDocument } from "../alerts/rules/check-rules.ts";
import type { PolicyFinding } from "../policy/contract.ts";
import { locate, parseYaml } from "../policy/read.ts";
import { DEEPEST_YAML, isTooDeep } from "../policy/yaml.ts";
import { readTextFile, unusableFile } from "./policy/load.ts";
import { CommandError, type Context } from "./shell/command.ts";
import { importDefault } from "./shell/files.ts";

type MonitorReading =
  | { readonly ok: true; readonly monitor: MonitorOptions }
  | { readonly ok: false; readonly findings: readonly PolicyFinding[] };

const MOST_CHARACTERS = 262_144;

const failReading = (message: string): MonitorReading => ({
  ok: false,
  findings: [{ severity: "fault", line: 1, column: 1, message }],
});

export function readMonitor(text: string): MonitorReading {
  if (text.length > MOST_CHARACTERS) return failReading(`the file is over ${MOST_CHARACTERS} characters`);
  if (isTooDeep(text)) return failReading(`the file has brackets over ${DEEPEST_YAML} deep`);
  const { faults, value, ...source } = parseYaml(text);
  if (faults.length > 0) return { ok: false, findings: faults };
  const shaped = readMonitorDocument(value);
  if (shaped.ok) return shaped;
  const findings = shaped.faults.map((fault) => locate(source, fault));
  return { ok: false, findings: findings.toSorted((a, b) => a.line - b.line || a.column - b.column) };
}

const MONITOR_SHAPE =
  "Its default export is a monitor, or a list of them: export default { name, rules: [{ kind, name, … }] }";

function loadMonitorText(context: Context, file: string): MonitorOptions {
  const read = readMonitor(readTextFile(file));
  if (read.ok) return read.monitor;
  const what = `The monitor ${file} cannot be used`;
  const next = "Correct the file: { monitor: <name>, rules: [{ kind, name, … }] }";
  throw unusableFile(context, read.findings, { file, what, next });
}

async function loadMonitorModule(file: string): Promise<readonly MonitorOptions[]> {
  const given = await importDefault(resolve(file));
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (list.length === 0 || !list.every((one) => typeof one === "object" && one !== null))
    throw new CommandError("usage", `The file ${file} exports no monitor.`, MONITOR_SHAPE);
  // Each is checked in full when it starts.
  return list as readonly MonitorOptions[];
}

export async function loadMonitors(context: Context, file: string): Promise<readonly MonitorOptions[]> {
  if (!existsSync(file)) throw new CommandError("file_error", `There is no file ${file}.`, "Check the path.");
  return /\.(ya?ml|json)$/.test(file) ? [loadMonitorText(context, file)] : loadMonitorModule(file);
}
