import type { Meter } from "./meter.ts";
import type { Node } from "./syntax.ts";
import type { Value } from "./values.ts";

/** Where an expression is at: the steps that are left, and the variables of `all`, `map` and the like. */
export type Scene = Meter & { readonly locals: Value[] };
export type Evaluate<S extends Scene> = (scene: S) => Value;
/** How a name, or a name with its field, is read. */
export type Readers<S extends Scene> = ReadonlyMap<string, Evaluate<S>>;
export type Slots = ReadonlyMap<string, number>;
export type Build<S extends Scene> = (node: Node, slots?: Slots) => Evaluate<S>;
