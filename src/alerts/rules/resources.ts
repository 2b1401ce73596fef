/**
 * A workflow's resource use against limits: tokens that its steps and calls report, costs of its effects, operations,
 * and the time since it was created. Figures that its snapshots report count instead where they are higher.
 */
import { isJsonObject, type Json, type JsonObject } from "../../kernel/json.ts";
import { moneyText } from "../../kernel/money.ts";
import {
  clearedSignal,
  createSubjects,
  durationText,
  isOperation,
  isWorkflowEnd,
  MOST_SUBJECTS,
  type MonitoredEntry,
  type ResourcesRule,
  type Signal,
  type Watcher,
} from "./monitor-rule.ts";

/** Amounts are micros as text, since JSON has no exact integer of that size. */
type ResourceUse = {
  readonly holds: boolean;
  readonly createdAt: number;
  readonly tokens: number;
  readonly micros: string;
  readonly operations: number;
  readonly said: {
    readonly tokens: number;
    readonly micros: string;
    readonly apiCalls: number;
    readonly ms: number;
  };
  /** Limits that were exceeded. */
  readonly passed: readonly string[];
};

/** Agents may report any number: it is capped at the largest exact integer. */
const capNumber = (value: number): number => Math.min(value, Number.MAX_SAFE_INTEGER);

const numberOf = (value: Json | undefined): number =>
  typeof value === "number" && Number.isFinite(value) && value > 0 ? capNumber(value) : 0;

/** `{ tokens: { input, output } }`, as a step that calls a model returns it. */
function tokensIn(result: Json): number {
  const tokens = isJsonObject(result) ? result["tokens"] : undefined;
  return isJsonObject(tokens) ? numberOf(tokens["input"]) + numberOf(tokens["output"]) : 0;
}

/** One cost may count against several budgets: the largest is the cost of the effect. */
function costIn({ type, body }: MonitoredEntry, currency: string): bigint {
  const costs = type === "effect.started" && Array.isArray(body["costs"]) ? body["costs"] : [];
  const amounts = costs.flatMap((cost: Json) =>
    isJsonObject(cost) && cost["currency"] === currency ? [BigInt(String(cost["micros"]))] : [],
  );
  return amounts.reduce((most, amount) => (amount > most ? amount : most), 0n);
}

function usedBySnapshot(snapshot: JsonObject | null, before: ResourceUse["said"]): ResourceUse["said"] {
  const state = snapshot?.["execution_state"];
  const used = isJsonObject(state) ? state["resource_consumption"] : undefined;
  if (!isJsonObject(used)) return before;
  return {
    tokens: numberOf(used["tokens_used"]),
    micros: String(Math.round(capNumber(numberOf(used["estimated_cost_usd"]) * 1_000_000))),
    apiCalls: numberOf(used["api_calls"]),
    ms: capNumber(numberOf(used["execution_time_seconds"]) * 1_000),
  };
}

type Passing = {
  readonly limit: string;
  readonly used: number | string;
  readonly of: number | string;
  readonly says: string;
};

const largest = (one: bigint, other: bigint): bigint => (one > other ? one : other);

function moneyPassing({ cost }: ResourcesRule, used: ResourceUse): readonly Passing[] {
  if (cost === undefined) return [];
  const { currency } = cost;
  const said = currency === "USD" ? BigInt(used.said.micros) : 0n;
  const micros = largest(BigInt(used.micros), said);
  if (micros <= cost.micros) return [];
  const [spent, of] = [moneyText({ currency, micros }), moneyText(cost)];
  return [{ limit: "cost", used: spent, of, says: `${spent} were spent, over ${of}` }];
}

function passing(rule: ResourcesRule, used: ResourceUse, now: number): readonly Passing[] {
  const elapsed = Math.max(now - used.createdAt, used.said.ms);
  const numbers = [
    ["tokens", Math.max(used.tokens, used.said.tokens), rule.tokens, (n: number) => `${n} tokens`],
    ["operations", used.operations, rule.operations, (n: number) => `${n} operations`],
    ["elapsedMs", elapsed, rule.elapsedMs, durationText],
    ["apiCalls", used.said.apiCalls, rule.apiCalls, (n: number) => `${n} API calls`],
  ] as const;
  return [
    ...numbers.flatMap(([limit, amount, of, text]) =>
      of === undefined || amount <= of
        ? []
        : [{ limit, used: amount, of, says: `it has used ${text(amount)}, over ${text(of)}` }],
    ),
    ...moneyPassing(rule, used),
  ];
}

const NOTHING = {
  holds: false,
  tokens: 0,
  micros: "0",
  operations: 0,
  said: { tokens: 0, micros: "0", apiCalls: 0, ms: 0 },
  passed: [],
} as const;

const resourceSubject = (id: string, limit: string): string => `workflow:${id} ${limit}`;

type Queue = {
  readonly first: () => readonly [number, string] | undefined;
  add(createdAt: number, id: string): void;
  drop(id: string): void;
  save(): Json;
};

/** Oldest first: the workflow that exceeds the time limit next. */
function createQueue(saved: Json): Queue {
  const all = Array.isArray(saved) ? [...(saved as unknown as (readonly [number, string])[])] : [];
  return {
    first: () => all[0],
    add(createdAt, id) {
      const at = all.findLastIndex(([other]) => other <= createdAt);
      all.splice(at + 1, 0, [createdAt, id]);
      if (all.length > MOST_SUBJECTS) all.shift();
    },
    drop(id) {
      const at = all.findIndex(([, other]) => other === id);
      if (at !== -1) all.splice(at, 1);
    },
    save: () => all as unknown as Json,
  };
}

function addUse(used: ResourceUse, sighting: MonitoredEntry, { cost }: ResourcesRule): ResourceUse {
  const micros = BigInt(used.micros) + costIn(sighting, cost?.currency ?? "");
  return {
    ...used,
    tokens: capNumber(used.tokens + tokensIn(sighting.result)),
    micros: micros.toString(),
    operations: used.operations + (isOperation(sighting) ? 1 : 0),
    said: usedBySnapshot(sighting.snapshot, used.said),
  };
}

export function watchResources(rule: ResourcesRule, saved: Json): Watcher {
  const kept = isJsonObject(saved) ? saved : {};
  const all = createSubjects<ResourceUse>(kept["used"] ?? null);
  const young = createQueue(kept["young"] ?? null);
  const { elapsedMs = null } = rule;

  function say(id: string, used: ResourceUse, now: number): readonly Signal[] {
    const found = passing(rule, used, now).filter(({ limit }) => !used.passed.includes(limit));
    const passed = [...used.passed, ...found.map(({ limit }) => limit)];
    all.put(id, { ...used, passed, holds: passed.length > 0 });
    return found.map(({ limit, used: amount, of, says }) => {
      const figures = { [limit]: amount, limit: of };
      return { subject: resourceSubject(id, limit), holds: true, workflow: id, figures, says, proof: null };
    });
  }

  function end(id: string): readonly Signal[] {
    const passed = all.get(id)?.passed ?? [];
    all.drop(id);
    young.drop(id);
    return passed.map((limit) => clearedSignal(resourceSubject(id, limit), id));
  }

  function old(now: number): string | undefined {
    const first = young.first();
    return first !== undefined && first[0] + (elapsedMs ?? 0) < now ? first[1] : undefined;
  }

  return {
    see(sighting) {
      if (sighting.workflow === null) return [];
      const { id, createdAt } = sighting.workflow;
      if (isWorkflowEnd(sighting)) return end(id);
      const known = all.get(id);
      // A late entry about an ended workflow, such as a resolved doubt, does not add it again.
      const isLate = sighting.type === "workflow.closed" || !sighting.stream.startsWith("workflow/");
      if (known === undefined && isLate) return [];
      if (known === undefined && elapsedMs !== null) young.add(createdAt, id);
      return say(id, addUse(known ?? { ...NOTHING, createdAt }, sighting, rule), sighting.at);
    },
    tick(now) {
      const signals: Signal[] = [];
      for (let id = old(now); id !== undefined; id = old(now)) {
        young.drop(id);
        const used = all.get(id);
        if (used !== undefined) signals.push(...say(id, used, now));
      }
      return signals;
    },
    due() {
      const first = young.first();
      return first === undefined ? null : first[0] + (elapsedMs ?? 0) + 1;
    },
    save: () => ({ used: all.save(), young: young.save() }),
  };
}
