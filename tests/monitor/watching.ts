/** Monitors in the processes of an office. */

import assert from "node:assert/strict";
import type { Admin } from "../../src/admin.ts";
import type { Alert } from "../../src/alerts/contract.ts";
import { type Monitor, startMonitor } from "../../src/alerts/monitor.ts";
import type { MonitorOptions } from "../../src/alerts/rules/check-rules.ts";
import type { MonitorRule } from "../../src/alerts/rules/monitor-rule.ts";
import { alertVerbs } from "../../src/alerts/verbs.ts";
import type { Notice } from "../../src/runtime/notices.ts";
import { bindLibrary } from "../../src/runtime/verb.ts";
import type { Desk, Office } from "../workflows/office.ts";

export const alerts = (desk: Desk): Admin["alerts"] => bindLibrary(async () => desk.runtime, alertVerbs);

export function watch(
  desk: Desk,
  rules: readonly MonitorRule[],
  more: Partial<MonitorOptions> = {},
): Promise<Monitor> {
  return startMonitor(async () => desk.runtime, new Set(), { name: "watch", rules, ...more });
}

/** Every alert there ever was, oldest first. */
export async function allAlerts(desk: Desk): Promise<readonly Alert[]> {
  const { items } = await alerts(desk).list({ status: "any", order: "oldest", limit: 1_000 });
  return Promise.all(items.map(({ id }) => alerts(desk).get(id)));
}

/** `+ rule subject` for each that stands, `- rule subject` for each that is over. */
export const told = (list: readonly Alert[]): readonly string[] =>
  list.map(({ status, rule, subject }) => `${status === "standing" ? "+" : "-"} ${rule} ${subject}`);

export const noticesOf = <Kind extends Notice["kind"]>(
  desk: Desk,
  kind: Kind,
): readonly Extract<Notice, { kind: Kind }>[] =>
  desk.notices.filter((notice): notice is Extract<Notice, { kind: Kind }> => notice.kind === kind);

/** How often each type of event stands in the tenant's journal. */
export async function countOf(desk: Desk, type: string): Promise<number> {
  const entries = await desk.store.log("acme", 0, 100_000);
  return entries.filter(({ header }) => (JSON.parse(header) as { type: string }).type === type).length;
}

export function standing(place: Office, desk: Desk, count = 1): Promise<readonly Alert[]> {
  return place.until(async () => {
    const list = (await allAlerts(desk)).filter(({ status }) => status === "standing");
    return list.length >= count && list;
  });
}

export async function only<Value>(list: readonly Value[]): Promise<Value> {
  assert.equal(list.length, 1);
  return list[0] ?? assert.fail("there is none");
}
