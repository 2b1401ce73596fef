/** Places inside of arguments: as an expression spells them, and as people read them. */
import { isJsonObject, type Json } from "../../kernel/json.ts";

export type Place = {
  /** `args.to.iban`, or `args["to whom"]`. */
  readonly path: string;
  /** `to.iban`. */
  readonly field: string;
  readonly name: string;
  readonly steps: readonly string[];
};

export const ARGS: Place = { path: "args", field: "", name: "", steps: [] };

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Words of the language, which cannot stand after a dot. */
const WORDS: ReadonlySet<string> = new Set(
  "as break const continue else false for function if import in let loop namespace null package return true var void while".split(
    " ",
  ),
);

const isWord = (name: string): boolean => NAME.test(name) && !WORDS.has(name);

export function inside({ path, field, steps }: Place, name: string): Place {
  const spelled = isWord(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`;
  return { path: spelled, field: field === "" ? name : `${field}.${name}`, name, steps: [...steps, name] };
}

/** An expression that is true where it is there; what it stands in has to be. */
export function presenceOf({ path, name }: Place): string {
  if (isWord(name)) return `has(${path})`;
  const written = JSON.stringify(name);
  return `${written} in ${path.slice(0, -written.length - 2)}`;
}

export function valueAt(args: Json, { steps }: Place): Json | undefined {
  let value: Json | undefined = args;
  for (const step of steps)
    value =
      value !== undefined && isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  return value;
}
