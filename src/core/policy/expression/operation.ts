/** A function or a method of expressions. A method's receiver is its first operand. */
import type { Meter } from "./meter.ts";
import type { Type } from "./types.ts";
import type { Kind, Value } from "./values.ts";

export type Operation = {
  readonly name: string;
  readonly method: boolean;
  readonly takes: readonly Kind[];
  readonly gives: Type;
  /** The operands are of the kinds in `takes`. */
  readonly run: (operands: readonly Value[], meter: Meter) => Value;
};
