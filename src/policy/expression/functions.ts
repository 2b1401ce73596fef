/** Functions and methods of expressions, except those on times. */

import { noPattern } from "./pattern.ts";
import { TIME_OPERATIONS } from "./time-functions.ts";
import { BOOL, type ExpressionFunction, listOf, NUMBER, STRING, type Type } from "./types.ts";
import {
  ExpressionError,
  type ExpressionKind,
  type Meter,
  payForList,
  payForText,
  requireFinite,
  STEPS_PER_NUMBER,
  STEPS_PER_READING,
  spend,
  spendCharacters,
  spendKeys,
  spendText,
  type Value,
} from "./values.ts";

type Text = readonly [string, string, ...unknown[]];
type Numbers = readonly number[];
type Run = ExpressionFunction["run"];

const method = (
  name: string,
  takes: readonly ExpressionKind[],
  gives: Type,
  run: Run,
): ExpressionFunction => ({
  name,
  method: true,
  takes,
  gives,
  run,
});
const plain = (
  name: string,
  takes: readonly ExpressionKind[],
  gives: Type,
  run: Run,
): ExpressionFunction => ({
  name,
  method: false,
  takes,
  gives,
  run,
});

/** A prefix or suffix check is cheap. A search may, at worst, compare the whole wanted text at each position. */
const SEEN_AT_ONCE = 16;
const COMPARED_PER_STEP = 16;

function paySearch(text: string, wanted: string, meter: Meter): void {
  spendText(meter, wanted.length);
  if (wanted.length > 1) spendCharacters(meter, text.length);
  else spendText(meter, text.length);
  if (wanted.length > SEEN_AT_ONCE) spend(meter, (text.length * wanted.length) / COMPARED_PER_STEP);
}

const search =
  (run: (text: string, wanted: string) => Value): Run =>
  (operands, meter) => {
    const [text, wanted] = operands as unknown as Text;
    paySearch(text, wanted, meter);
    return run(text, wanted);
  };

const ofTexts =
  (run: (a: string, b: string) => Value): Run =>
  (operands, meter) => {
    const [a, b] = operands as unknown as Text;
    spendText(meter, b.length);
    return run(a, b);
  };

const ofText =
  (run: (text: string, meter: Meter) => Value): Run =>
  (operands, meter) => {
    const [text] = operands as unknown as Text;
    spendText(meter, text.length);
    return run(text, meter);
  };

const isHigh = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;
const isLow = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;

/** Counts a surrogate pair once. Uses char codes: an iterator takes several times as long. */
function characters(text: string): number {
  let count = text.length;
  for (let at = 1; at < text.length; at++)
    if (isLow(text.charCodeAt(at)) && isHigh(text.charCodeAt(at - 1))) count -= 1;
  return count;
}

const sizeOfText: Run = (operands, meter) => {
  const [text] = operands as unknown as Text;
  spendCharacters(meter, text.length);
  return characters(text);
};
const sizeOfList: Run = ([list]) => (list as readonly Value[]).length;
const sizeOfObject: Run = ([object], meter) => {
  const { length } = Object.keys(object as object);
  spendKeys(meter, length);
  return length;
};

function split(operands: readonly Value[], meter: Meter): Value {
  const [text, separator] = operands as unknown as Text;
  paySearch(text, separator, meter);
  payForText(meter, text.length);
  const parts = text.split(separator);
  payForList(meter, parts.length);
  return parts;
}

function join(operands: readonly Value[], meter: Meter): Value {
  const [list, separator = ""] = operands as readonly [readonly Value[], string?];
  spend(meter, list.length);
  let length = 0;
  for (const part of list) {
    if (typeof part !== "string") throw new ExpressionError("join takes a list of text");
    length += part.length + separator.length;
  }
  payForText(meter, length);
  return list.join(separator);
}

function substring(operands: readonly Value[], meter: Meter): Value {
  const [text, start, end = text.length] = operands as readonly [string, number, number?];
  if (!(Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start <= end && end <= text.length))
    throw new ExpressionError("substring is asked for a place outside of the text");
  payForText(meter, text.length);
  return text.slice(start, end).toWellFormed();
}

function numberOf(text: string, meter: Meter): number {
  spend(meter, STEPS_PER_NUMBER);
  if (text.length > 40 || !/^-?\d+(?:\.\d+)?(?:[eE][-+]?\d{1,3})?$/.test(text))
    throw new ExpressionError("the text is not a number");
  return requireFinite(Number(text));
}

function numbersIn(list: Value, meter: Meter): Numbers {
  const numbers = list as readonly Value[];
  spend(meter, numbers.length);
  if (!numbers.every((one) => typeof one === "number"))
    throw new ExpressionError("the list is not one of numbers");
  return numbers as Numbers;
}

function extreme(numbers: Numbers, pick: (a: number, b: number) => number): number {
  const [first] = numbers;
  if (first === undefined) throw new ExpressionError("the list is empty");
  return numbers.reduce((a, b) => pick(a, b), first);
}

const MOST_DIGITS = 12;

/** Rounds half away from zero by the decimal text: 1.005 to two digits is 1.01, as expected for money. */
function round(operands: readonly Value[], meter: Meter): Value {
  spend(meter, STEPS_PER_READING);
  const [number, digits = 0] = operands as readonly [number, number?];
  if (!Number.isInteger(digits) || digits < 0 || digits > MOST_DIGITS)
    throw new ExpressionError(`round takes 0 to ${MOST_DIGITS} digits`);
  const [mantissa, exponent = "0"] = String(Math.abs(number)).split("e");
  const scaled = Math.round(Number(`${mantissa}e${Number(exponent) + digits}`));
  const [whole, power = "0"] = String(scaled).split("e");
  return Math.sign(number) * requireFinite(Number(`${whole}e${Number(power) - digits}`)) + 0;
}

/** For text that is searched for runs of letters. */
const STEPS_PER_LETTER = 6;
const isAscii = (text: string): boolean => !/[^\0-\x7f]/.test(text);

/** Changes ASCII letters only; text with other characters is converted run by run. */
function cased(all: (text: string) => string, runs: RegExp): Run {
  return ofText((text, meter) => {
    if (isAscii(text)) return all(text);
    spend(meter, STEPS_PER_LETTER * text.length);
    return text.replace(runs, all);
  });
}

export const OPERATIONS: readonly ExpressionFunction[] = [
  plain("size", ["string"], NUMBER, sizeOfText),
  plain("size", ["list"], NUMBER, sizeOfList),
  plain("size", ["object"], NUMBER, sizeOfObject),
  method("size", ["string"], NUMBER, sizeOfText),
  method("size", ["list"], NUMBER, sizeOfList),
  method("size", ["object"], NUMBER, sizeOfObject),
  method(
    "contains",
    ["string", "string"],
    BOOL,
    search((a, b) => a.includes(b)),
  ),
  method(
    "startsWith",
    ["string", "string"],
    BOOL,
    ofTexts((a, b) => a.startsWith(b)),
  ),
  method(
    "endsWith",
    ["string", "string"],
    BOOL,
    ofTexts((a, b) => a.endsWith(b)),
  ),
  method("matches", ["string", "string"], BOOL, noPattern),
  plain("matches", ["string", "string"], BOOL, noPattern),
  method(
    "indexOf",
    ["string", "string"],
    NUMBER,
    search((a, b) => a.indexOf(b)),
  ),
  method(
    "lowerAscii",
    ["string"],
    STRING,
    cased((text) => text.toLowerCase(), /[A-Z]+/g),
  ),
  method(
    "upperAscii",
    ["string"],
    STRING,
    cased((text) => text.toUpperCase(), /[a-z]+/g),
  ),
  method(
    "trim",
    ["string"],
    STRING,
    ofText((text) => text.trim()),
  ),
  method("substring", ["string", "number"], STRING, substring),
  method("substring", ["string", "number", "number"], STRING, substring),
  method("split", ["string", "string"], listOf(STRING), split),
  method("join", ["list"], STRING, join),
  method("join", ["list", "string"], STRING, join),
  plain("string", ["string"], STRING, ([text]) => text ?? null),
  plain("string", ["number"], STRING, ([number], meter) => {
    spend(meter, STEPS_PER_NUMBER);
    return String(number);
  }),
  plain("string", ["bool"], STRING, ([bool]) => String(bool)),
  plain("double", ["number"], NUMBER, ([number]) => number ?? null),
  plain("double", ["string"], NUMBER, ofText(numberOf)),
  plain("int", ["number"], NUMBER, ([number]) => Math.trunc(number as number) + 0),
  plain(
    "int",
    ["string"],
    NUMBER,
    ofText((text, meter) => Math.trunc(numberOf(text, meter)) + 0),
  ),
  plain("abs", ["number"], NUMBER, ([number]) => Math.abs(number as number)),
  plain("round", ["number"], NUMBER, round),
  plain("round", ["number", "number"], NUMBER, round),
  plain("min", ["number", "number"], NUMBER, (both) => Math.min(...(both as Numbers))),
  plain("max", ["number", "number"], NUMBER, (both) => Math.max(...(both as Numbers))),
  plain("min", ["list"], NUMBER, ([list], meter) => extreme(numbersIn(list ?? null, meter), Math.min)),
  plain("max", ["list"], NUMBER, ([list], meter) => extreme(numbersIn(list ?? null, meter), Math.max)),
  plain("sum", ["list"], NUMBER, ([list], meter) =>
    requireFinite(numbersIn(list ?? null, meter).reduce((a, b) => a + b, 0)),
  ),
  ...TIME_OPERATIONS,
];

const byName = Map.groupBy(OPERATIONS, ({ name, method: isMethod }) => `${isMethod ? "." : ""}${name}`);

export function operationsNamed(name: string, isMethod: boolean): readonly ExpressionFunction[] {
  return byName.get(`${isMethod ? "." : ""}${name}`) ?? [];
}

export function namesOfOperations(isMethod: boolean): Iterable<string> {
  return new Set(OPERATIONS.filter((one) => one.method === isMethod).map(({ name }) => name));
}
