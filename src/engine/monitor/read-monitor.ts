/** A monitor's file: text to rules, and everything that is wrong with it by line and column. */
import { readMonitorDocument, type WrittenMonitor } from "../../alerts/rules/check-rules.ts";
import { locate, type PolicyFinding, parseYaml } from "../../policy/read.ts";
import { DEEPEST_YAML, isTooDeep } from "../../policy/yaml.ts";

export type MonitorReading =
  | { readonly ok: true; readonly monitor: WrittenMonitor }
  | { readonly ok: false; readonly findings: readonly PolicyFinding[] };

const MOST_CHARACTERS = 262_144;

const fail = (message: string): MonitorReading => ({
  ok: false,
  findings: [{ severity: "fault", line: 1, column: 1, message }],
});

export function readMonitor(text: string): MonitorReading {
  if (text.length > MOST_CHARACTERS) return fail(`the file is over ${MOST_CHARACTERS} characters`);
  if (isTooDeep(text)) return fail(`the file has brackets over ${DEEPEST_YAML} deep`);
  const { faults, value, ...source } = parseYaml(text);
  if (faults.length > 0) return { ok: false, findings: faults };
  const shaped = readMonitorDocument(value);
  if (shaped.ok) return shaped;
  const findings = shaped.faults.map((fault) => locate(source, fault));
  return { ok: false, findings: findings.toSorted((a, b) => a.line - b.line || a.column - b.column) };
}
