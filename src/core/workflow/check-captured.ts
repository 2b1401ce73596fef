/** What a program hands to a checkpoint, checked before anything is stored: a misspelt field would be lost in silence. */

import { frozenJson } from "../../kernel/canonical-json.ts";
import { HoldpointError, isHoldpointError } from "../../kernel/errors.ts";
import { noField } from "../../kernel/fields.ts";
import { isJsonObject, type Json } from "../../kernel/json.ts";
import { displayValue } from "../../kernel/text.ts";

import type { Captured, CapturedApiCall, CapturedMemory, CapturedResources } from "./snapshot.ts";
import { MEMORY_NAMES } from "./snapshot.ts";

/** What a value has to be: a plain thing, a list of things, or an object of named things. */
type Shape =
  | { readonly isRight: (value: Json) => boolean; readonly what: string }
  | { readonly each: Shape }
  | { readonly fields: { readonly [field: string]: Shape }; readonly open?: true };

type ShapesOf<Given> = { readonly [field in keyof Given]-?: Shape };

const NAME_LENGTH = 200;

const TEXT: Shape = { isRight: (value) => typeof value === "string", what: "is a text" };
const NAME: Shape = {
  isRight: (value) => typeof value === "string" && value !== "" && value.length <= NAME_LENGTH,
  what: `is a name of 1 to ${NAME_LENGTH} characters`,
};
const ANYTHING: Shape = { isRight: () => true, what: "is JSON" };
const OBJECT: Shape = { isRight: isJsonObject, what: "is an object" };
const AMOUNT: Shape = {
  isRight: (value) => typeof value === "number" && value >= 0,
  what: "is a number of at least 0",
};
const SHARE: Shape = {
  isRight: (value) => typeof value === "number" && value >= 0 && value <= 1,
  what: "is a number from 0 to 1",
};
const RECOMMENDATIONS: readonly unknown[] = ["approve", "modify", "reject"];

const API_CALL: ShapesOf<CapturedApiCall> = {
  timestamp: TEXT,
  endpoint: TEXT,
  method: TEXT,
  status: {
    isRight: (value) => typeof value === "number" || typeof value === "string",
    what: "is a number or a text",
  },
  payload: ANYTHING,
  response: ANYTHING,
  summary: TEXT,
};

const RESOURCES: ShapesOf<CapturedResources> = {
  apiCalls: AMOUNT,
  tokensUsed: AMOUNT,
  executionTimeSeconds: AMOUNT,
  estimatedCostUsd: AMOUNT,
};

const MEMORY: ShapesOf<Pick<CapturedMemory, "conversationHistory">> = {
  conversationHistory: { each: ANYTHING },
};

const CAPTURED: ShapesOf<Captured> = {
  summary: TEXT,
  decisionNeeded: TEXT,
  recommendation: {
    isRight: (value) => RECOMMENDATIONS.includes(value),
    what: `is one of ${RECOMMENDATIONS.join(", ")}`,
  },
  confidence: SHARE,
  artifacts: { each: ANYTHING },
  context: OBJECT,
  inputs: OBJECT,
  outputs: OBJECT,
  nextSteps: { each: TEXT },
  confidenceScores: {
    isRight: (value) =>
      isJsonObject(value) && Object.values(value).every((score) => typeof score === "number"),
    what: "is an object of numbers by name",
  },
  risk: ANYTHING,
  memory: { fields: MEMORY, open: true },
  apiCalls: { each: { fields: API_CALL } },
  trace: { each: TEXT },
  resources: { fields: RESOURCES },
  agent: NAME,
};

function wrong(what: string): never {
  throw new HoldpointError("invalid_input", what);
}

/** The value as an error shows it: data as JSON, not as `[object Object]`. */
const said = (value: Json): string => displayValue(JSON.stringify(value));

function check(path: string, value: Json, shape: Shape): void {
  if ("isRight" in shape) {
    if (!shape.isRight(value)) wrong(`"${path}" ${shape.what}, not ${said(value)}.`);
  } else if ("each" in shape) {
    if (!Array.isArray(value)) wrong(`"${path}" is a list, not ${said(value)}.`);
    for (const [index, part] of value.entries()) check(`${path}[${index}]`, part, shape.each);
  } else checkFields(path, value, shape);
}

function checkFields(path: string, value: Json, shape: Extract<Shape, { fields: unknown }>): void {
  const names = Object.keys(shape.fields);
  if (!isJsonObject(value)) wrong(`"${path}" is an object, not ${said(value)}.`);
  for (const [field, part] of Object.entries(value)) {
    const known = Object.hasOwn(shape.fields, field) ? shape.fields[field] : undefined;
    if (known !== undefined) check(`${path}.${field}`, part, known);
    else if (shape.open !== true) wrong(`"${path}"${noField(field, names)}.`);
  }
}

/** A part of the memory under its stored name would come back under its name in a program. */
function checkSpelling({ memory }: Captured): void {
  for (const [name, stored] of MEMORY_NAMES) {
    if (memory?.[stored] !== undefined)
      wrong(`"captured.memory" has the field "${stored}"; in a program it is "${name}".`);
  }
}

function notJson(error: HoldpointError): HoldpointError {
  const why = error.what.replaceAll("$.captured", "captured");
  return new HoldpointError("invalid_input", `What a checkpoint captures is JSON. ${why}`, { cause: error });
}

/** Strict JSON, no deeper than the snapshot can hold it: there it stands one level further down. */
function asJson(given: unknown): Json {
  try {
    return (frozenJson({ captured: given ?? {} }) as { readonly captured: Json }).captured;
  } catch (error) {
    throw isHoldpointError(error, "invalid_json") ? notJson(error) : error;
  }
}

/** A frozen copy of what was given, or an error that names the field and what it takes. Nothing at all is nothing captured. */
export function checkCaptured(value: unknown): Captured {
  const given = asJson(value);
  check("captured", given, { fields: CAPTURED });
  const captured = given as unknown as Captured;
  checkSpelling(captured);
  return captured;
}
