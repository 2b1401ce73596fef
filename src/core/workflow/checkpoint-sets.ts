/** Which checkpoints are in force: all that are declared, or those for tasks as complex as this one. */

import { HoldpointError } from "../../kernel/errors.ts";
import type { Money } from "../../kernel/money.ts";
import { displayValue } from "../../kernel/text.ts";

import {
  type CheckpointDefinition,
  type CheckpointSet,
  type CheckpointSets,
  COMPLEXITIES,
  type Complexity,
} from "./checkpoint-rules.ts";

/** One list for every run, or a list by how complex the task is. */
export type Checkpoints = readonly CheckpointDefinition[] | CheckpointSets;

/** The checkpoints in force for one run, and the names of those that only other sets have. */
export type ChosenSet = CheckpointSet & { readonly leftOut: readonly string[] };

export const isList = (given: Checkpoints): given is readonly CheckpointDefinition[] => Array.isArray(given);

const namesOf = (set: CheckpointSet | undefined): readonly string[] =>
  set?.checkpoints.map(({ name }) => name) ?? [];

function wrong(what: string): never {
  throw new HoldpointError("invalid_input", what);
}

/** The set of a complexity; where none is said, that of the most complex tasks for which there is one. */
export function chosenSet(given: Checkpoints, complexity: string | null = null): ChosenSet {
  if (isList(given)) return { checkpoints: given, leftOut: [] };
  const declared = COMPLEXITIES.filter((one) => given[one] !== undefined);
  const chosen = complexity === null ? declared.at(-1) : declared.find((one) => one === complexity);
  const set = chosen === undefined ? undefined : given[chosen];
  if (set === undefined)
    return wrong(
      `There is no set of checkpoints for "${displayValue(complexity)}"; there are ${declared.join(", ")}.`,
    );
  const kept = new Set(namesOf(set));
  const all = new Set(declared.flatMap((one) => namesOf(given[one])));
  return { ...set, leftOut: [...all].filter((name) => !kept.has(name)) };
}

/** The checkpoint of a name, as `whetherToAsk` takes it. */
export function checkpointNamed(
  { checkpoints, leftOut }: ChosenSet,
  name: string,
): CheckpointDefinition | "left_out" | undefined {
  return checkpoints.find((one) => one.name === name) ?? (leftOut.includes(name) ? "left_out" : undefined);
}

const usd = (whole: bigint): Money => ({ currency: "USD", micros: whole * 1_000_000n });

const ADAPTIVE: { readonly [complexity in Complexity]: { readonly most: number; readonly escrow: Money } } = {
  simple: { most: 1, escrow: usd(50n) },
  medium: { most: 2, escrow: usd(100n) },
  complex: { most: 4, escrow: usd(100n) },
};

/** So many of a list, evenly spaced, the last one among them. */
function spaced<Item>(list: readonly Item[], most: number): readonly Item[] {
  const count = Math.min(most, list.length);
  const endOf = (part: number) => Math.ceil((part * list.length) / count) - 1;
  const kept = new Set(Array.from({ length: count }, (_, index) => endOf(index + 1)));
  return list.filter((_, index) => kept.has(index));
}

/**
 * Sets cut from one list, which is in the order in which its checkpoints are reached. Simple: the last one, and 50 USD in
 * escrow. Medium: the one halfway and the last, 100 USD. Complex: four, evenly spaced, 100 USD.
 */
export function adaptiveCheckpoints(all: readonly CheckpointDefinition[]): Required<CheckpointSets> {
  if (!Array.isArray(all)) wrong("adaptiveCheckpoints takes a list of checkpoints.");
  const cut = (complexity: Complexity): CheckpointSet => {
    const { most, escrow } = ADAPTIVE[complexity];
    return { checkpoints: spaced(all, most), escrow };
  };
  return { simple: cut("simple"), medium: cut("medium"), complex: cut("complex") };
}

/** The id that a checkpoint has, or that is made of its name. */
export function checkpointId({ id, name }: Pick<CheckpointDefinition, "id" | "name">): string {
  return id ?? `cp_${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "_")}`;
}
