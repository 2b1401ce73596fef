/** Names, fields and parts of values: by their own keys only (X1). */
import { equal } from "./equal.ts";
import { type Meter, payForList, spend } from "./meter.ts";
import type { Evaluate, Readers, Scene, Slots } from "./scene.ts";
import type { NodeOf } from "./syntax.ts";
import { ExpressionError, isList, isObject, kindOf, spoken, type Value } from "./values.ts";

/** An object is made by its keys, and looked through for one that is there twice. */
const STEPS_PER_ENTRY = 12;

function fieldOf(of: Value, name: string): Value {
  if (!isObject(of)) throw new ExpressionError(`${spoken(kindOf(of))} has no field "${name}"`);
  const value = Object.hasOwn(of, name) ? of[name] : undefined;
  if (value === undefined) throw new ExpressionError(`there is no field "${name}"`);
  return value;
}

function partOf(of: Value, key: Value): Value {
  if (typeof key === "string") return fieldOf(of, key);
  if (!isList(of) || typeof key !== "number")
    throw new ExpressionError(`${spoken(kindOf(of))} has no part at ${spoken(kindOf(key))}`);
  const value = Number.isInteger(key) ? of[key] : undefined;
  if (value === undefined) throw new ExpressionError(`the list has no item ${key}`);
  return value;
}

export function isIn(item: Value, of: Value, meter: Meter): boolean {
  if (isList(of)) return of.some((one) => equal(item, one, meter));
  if (!isObject(of))
    throw new ExpressionError(`in needs a list or an object, and this is ${spoken(kindOf(of))}`);
  return typeof item === "string" && Object.hasOwn(of, item);
}

export function readName<S extends Scene>(name: string, slots: Slots, readers: Readers<S>): Evaluate<S> {
  const slot = slots.get(name);
  if (slot !== undefined) return (scene) => scene.locals[slot] ?? null;
  const reader = readers.get(name);
  if (reader !== undefined) return reader;
  return () => {
    throw new ExpressionError(`there is no ${name} here`);
  };
}

export function readField<S extends Scene>(
  { of: owner, name }: NodeOf<"field">,
  of: Evaluate<S>,
  slots: Slots,
  readers: Readers<S>,
): Evaluate<S> {
  const isFree = owner.kind === "name" && !slots.has(owner.name);
  const whole = isFree ? readers.get(`${owner.name}.${name}`) : undefined;
  return whole ?? ((scene) => fieldOf(of(scene), name));
}

/** What is nothing has no fields. */
export function hasField<S extends Scene>(of: Evaluate<S>, name: string): Evaluate<S> {
  return (scene) => {
    const value = of(scene);
    return isObject(value) && Object.hasOwn(value, name);
  };
}

export function readPart<S extends Scene>(of: Evaluate<S>, key: Evaluate<S>): Evaluate<S> {
  return (scene) => partOf(of(scene), key(scene));
}

export function makeList<S extends Scene>(items: readonly Evaluate<S>[]): Evaluate<S> {
  return (scene) => {
    spend(scene, items.length);
    return items.map((item) => item(scene));
  };
}

export function makeObject<S extends Scene>(
  entries: readonly (readonly [Evaluate<S>, Evaluate<S>])[],
): Evaluate<S> {
  return (scene) => {
    payForList(scene, entries.length);
    spend(scene, STEPS_PER_ENTRY * (1 + entries.length));
    const pairs = entries.map(([key, value]) => [keyOf(key(scene)), value(scene)] as const);
    if (new Set(pairs.map(([key]) => key)).size < pairs.length)
      throw new ExpressionError("the object has a key twice");
    return Object.fromEntries(pairs);
  };
}

function keyOf(key: Value): string {
  if (typeof key === "string" && key !== "__proto__") return key;
  throw new ExpressionError("an object's keys are text");
}
