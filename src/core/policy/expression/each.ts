/** `all`, `exists`, `exists_one`, `filter` and `map`: over the items of a list, or the keys of an object. */

import { weightOf } from "./cost.ts";
import { payForList, STEPS_PER_ERROR, spend, spendKeys } from "./meter.ts";
import type { Build, Evaluate, Scene, Slots } from "./scene.ts";
import type { NodeOf } from "./syntax.ts";
import { canBeMadeUpFor, isTrue } from "./truth.ts";
import { ExpressionError, isList, isObject, kindOf, spoken, type Value } from "./values.ts";

function itemsOf(value: Value, scene: Scene): readonly Value[] {
  if (isList(value)) return value;
  if (!isObject(value)) throw new ExpressionError(`a list is needed, and this is ${spoken(kindOf(value))}`);
  const keys = Object.keys(value);
  spendKeys(scene, keys.length);
  return keys;
}

type Loop<S extends Scene> = {
  readonly over: Evaluate<S>;
  readonly test: Evaluate<S>;
  readonly make: Evaluate<S>;
  readonly slot: number;
  /** What the test of one item costs at least, and what is made of it. */
  readonly weight: number;
  readonly makeWeight: number;
};

/** Is the test's answer `settles` for any of them? Errors count only if nothing settles it. */
function quantify<S extends Scene>({ over, test, slot, weight }: Loop<S>, settles: boolean): Evaluate<S> {
  return (scene) => {
    let failure: unknown;
    for (const item of itemsOf(over(scene), scene)) {
      spend(scene, weight);
      scene.locals[slot] = item;
      try {
        if (isTrue(test(scene)) === settles) return settles;
      } catch (error) {
        if (!canBeMadeUpFor(error)) throw error;
        spend(scene, STEPS_PER_ERROR);
        failure ??= error;
      }
    }
    if (failure !== undefined) throw failure;
    return !settles;
  };
}

function collect<S extends Scene>(loop: Loop<S>, scene: S): readonly Value[] {
  const { over, test, make, slot, weight, makeWeight } = loop;
  const items = itemsOf(over(scene), scene);
  payForList(scene, items.length);
  const kept: Value[] = [];
  for (const item of items) {
    spend(scene, weight);
    scene.locals[slot] = item;
    if (!isTrue(test(scene))) continue;
    spend(scene, makeWeight);
    kept.push(make(scene));
  }
  return kept;
}

export function each<S extends Scene>(node: NodeOf<"each">, build: Build<S>, slots: Slots): Evaluate<S> {
  const slot = slots.size;
  const inner = new Map([...slots, [node.variable, slot]]);
  const loop: Loop<S> = {
    over: build(node.over, slots),
    test: node.test === null ? () => true : build(node.test, inner),
    make: node.make === null ? (scene) => scene.locals[slot] ?? null : build(node.make, inner),
    slot,
    weight: 1 + (node.test === null ? 0 : weightOf(node.test)),
    makeWeight: node.make === null ? 1 : weightOf(node.make),
  };
  if (node.macro === "exists") return quantify(loop, true);
  if (node.macro === "all") return quantify(loop, false);
  if (node.macro === "exists_one") return (scene) => collect(loop, scene).length === 1;
  return (scene) => collect(loop, scene);
}
