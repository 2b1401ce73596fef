/** Which rule is watched how, and whether what another process kept of it still fits. */
import { canonicalJson, sha256 } from "../../kernel/canonical-json.ts";
import { isJsonObject, type Json } from "../../kernel/json.ts";

import { watchErrors } from "./errors.ts";
import { watchProgress } from "./progress.ts";
import { watchRate } from "./rate.ts";
import { watchResources } from "./resources.ts";
import type { MonitorRule, Watcher } from "./rules.ts";
import { watchSilence } from "./silence.ts";
import { watchWhen } from "./when.ts";

function watcherOf(rule: MonitorRule, saved: Json): Watcher {
  switch (rule.kind) {
    case "rate":
      return watchRate(rule, saved);
    case "errors":
      return watchErrors(rule, saved);
    case "silence":
      return watchSilence(rule, saved);
    case "progress":
      return watchProgress(rule, saved);
    case "resources":
      return watchResources(rule, saved);
    case "when":
      return watchWhen(rule, saved);
  }
}

/** Of what it counts, not of what is done about it; a condition is told from another only by its rule's name. */
function digestOfRule({ severity: _, raise: __, ...rule }: MonitorRule): string {
  const entries = Object.entries(rule).flatMap(([field, value]) => {
    if (typeof value === "function") return [];
    const money = field === "cost" && isMoney(value) ? { ...value, micros: String(value.micros) } : value;
    return [[field, money] as const];
  });
  return sha256(canonicalJson(Object.fromEntries(entries)));
}

const isMoney = (value: unknown): value is { readonly micros: bigint } =>
  typeof (value as { micros?: unknown } | null)?.micros === "bigint";

export type WatchedRule = { readonly rule: MonitorRule; readonly watcher: Watcher };

/** A rule that says something else than when it was kept begins anew. */
export function watchAll(rules: readonly MonitorRule[], kept: Json): readonly WatchedRule[] {
  return rules.map((rule) => {
    const known = isJsonObject(kept) ? kept[rule.name] : undefined;
    const isSame = isJsonObject(known) && known["digest"] === digestOfRule(rule);
    return { rule, watcher: watcherOf(rule, isSame ? (known["state"] ?? null) : null) };
  });
}

export function saveAll(watched: readonly WatchedRule[]): Json {
  return Object.fromEntries(
    watched.map(({ rule, watcher }) => [rule.name, { digest: digestOfRule(rule), state: watcher.save() }]),
  );
}
