/** Checks a workflow's checkpoints when they are declared, so that mistakes show before an agent reaches one. */
import { HoldpointError } from "../../kernel/errors.ts";
import {
  checkNothing,
  fieldFault,
  functionCheck,
  isPlainObject,
  oneOfCheck,
  rejectInput,
  type ValueCheck,
} from "../../kernel/fields.ts";
import { isJsonObject } from "../../kernel/json.ts";
import { amountCheck } from "../../kernel/money.ts";
import { displayValue } from "../../kernel/text.ts";
import { checkWrittenTerms, whyUnmeetable } from "../../policy/rules/stages.ts";
import {
  type CheckpointConditions,
  type CheckpointDefinition,
  type CheckpointSet,
  type Checkpoints,
  type CheckpointUndo,
  COMPLEXITIES,
  checkpointId,
  UNDO_EFFECTS,
} from "./checkpoints.ts";

const NAME_LENGTH = 100;
/** Same form as the names of operations. */
const NAME_FORM = /^[^\s/#][^/#\n\r]*$/u;
const DESCRIPTION_LENGTH = 2_000;
/** About three hundred years. */
const LONGEST_SECONDS = 1e10;

type Fields = { readonly [field: string]: unknown };
type RulesOf<Given> = { readonly [field in keyof Given]-?: ValueCheck };

const isText = (value: unknown, least: number, most: number): value is string =>
  typeof value === "string" && value.isWellFormed() && value.length >= least && value.length <= most;

const BOOLEAN: ValueCheck = { isRight: (value) => typeof value === "boolean", what: "is true or false" };
const NAME: ValueCheck = {
  isRight: (value) => isText(value, 1, NAME_LENGTH) && NAME_FORM.test(value),
  what: `is a text of 1 to ${NAME_LENGTH} characters without / and #, and does not begin with a space`,
};
/** `start` is reserved: a rollback to `start` goes back to the beginning. */
const OWN_NAME: ValueCheck = {
  isRight: (value) => NAME.isRight(value) && value !== "start",
  what: `${NAME.what}; it is not named "start", which is where a workflow begins`,
};
const DEFINITION: RulesOf<CheckpointDefinition> = {
  name: OWN_NAME,
  id: NAME,
  description: {
    isRight: (value) => isText(value, 0, DESCRIPTION_LENGTH),
    what: `is a text of at most ${DESCRIPTION_LENGTH} characters`,
  },
  requiresApproval: BOOLEAN,
  canRollback: BOOLEAN,
  timeoutSeconds: {
    isRight: (value) =>
      value === null || (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= LONGEST_SECONDS),
    what: `is a whole number of seconds from 1 to ${LONGEST_SECONDS}, or null for ever`,
  },
  onTimeout: {
    isRight: (value) => value === "expire" || value === "escalate" || value === "extend",
    what: 'is "expire", "escalate" or "extend": a deadline cannot approve',
  },
  when: {
    isRight: (value) => typeof value === "function" || isJsonObject(value),
    what: "is an object of conditions or a function",
  },
  // Checked below, with more detailed errors.
  undo: checkNothing,
  approvers: checkNothing,
  stages: checkNothing,
};

const CONDITIONS: RulesOf<CheckpointConditions> = {
  confidenceBelow: {
    isRight: (value) => typeof value === "number" && value >= 0 && value <= 1,
    what: "is a number from 0 to 1",
  },
  costAbove: amountCheck,
  tools: {
    isRight: (value) =>
      Array.isArray(value) && value.length > 0 && value.every((tool) => typeof tool === "string"),
    what: "is a list of at least one tool's name",
  },
};

const UNDO: RulesOf<CheckpointUndo> = {
  run: functionCheck,
  effect: oneOfCheck(UNDO_EFFECTS),
  // A verdict is checked together with all policies.
  policy: checkNothing,
};

const SET: RulesOf<CheckpointSet> = {
  checkpoints: { isRight: Array.isArray, what: "is a list" },
  escrow: amountCheck,
};

/** Returns its fields, without those that are undefined. */
function checkFields(whose: string, given: unknown, rules: Readonly<Record<string, ValueCheck>>): Fields {
  const known = Object.keys(rules);
  if (!isPlainObject(given)) return rejectInput(`${whose} is an object: { ${known.join(", ")} }.`);
  const fault = fieldFault(whose, given, known);
  if (fault !== undefined) rejectInput(`${fault}.`);
  const said = Object.entries(given).filter(([, value]) => value !== undefined);
  for (const [field, value] of said) {
    const rule = rules[field];
    if (rule?.isRight(value) !== true)
      rejectInput(`${whose}: "${field}" ${rule?.what}, not "${displayValue(value)}".`);
  }
  return Object.fromEntries(said);
}

function checkApprovers(
  whose: string,
  given: Partial<CheckpointDefinition>,
  requester: readonly string[],
): void {
  const terms = checkWrittenTerms(given);
  if (typeof terms === "string") rejectInput(`${whose}: ${terms}.`);
  const fault = whyUnmeetable(terms, requester);
  if (fault !== undefined)
    throw new HoldpointError("unsatisfiable_quorum", `${whose} can never be approved: ${fault}.`);
}

function checkUndo(whose: string, undo: unknown): void {
  const { run } = checkFields(`${whose}, "undo"`, undo, UNDO) as Partial<CheckpointUndo>;
  if (run === undefined) rejectInput(`${whose} has an undo without a function to run.`);
}

function checkConditions(whose: string, when: Fields): CheckpointConditions {
  const conditions = checkFields(`${whose}, "when"`, when, CONDITIONS);
  if (Object.keys(conditions).length === 0)
    rejectInput(`${whose} would never ask: its "when" has no condition. Leave "when" out to ask always.`);
  return conditions;
}

function checkOne(given: unknown, index: number, requester: readonly string[]): CheckpointDefinition {
  const name = isJsonObject(given) ? given["name"] : undefined;
  const isNamed = typeof name === "string" && name !== "";
  const whose = isNamed ? `The checkpoint "${displayValue(name)}"` : `The checkpoint number ${index + 1}`;
  const fields = checkFields(whose, given, DEFINITION) as {
    readonly [field in keyof CheckpointDefinition]: unknown;
  };
  if (name === undefined) rejectInput(`${whose} has no name.`);
  const { when, undo } = fields;
  if (undo !== undefined) checkUndo(whose, undo);
  checkApprovers(whose, fields as Partial<CheckpointDefinition>, requester);
  const own = isJsonObject(when) ? { ...fields, when: checkConditions(whose, when) } : fields;
  return own as CheckpointDefinition;
}

function checkUnique(list: readonly CheckpointDefinition[], field: "name" | "id"): void {
  const values = list.flatMap((one) => one[field] ?? []);
  const twice = values.find((value, index) => values.indexOf(value) !== index);
  if (twice !== undefined) rejectInput(`Two checkpoints have the ${field} "${displayValue(twice)}".`);
}

function checkList(given: readonly unknown[], requester: readonly string[]): readonly CheckpointDefinition[] {
  const list = given.map((one, index) => checkOne(one, index, requester));
  checkUnique(list, "name");
  // A missing id is derived from the name.
  checkUnique(
    list.map((one) => ({ ...one, id: checkpointId(one) })),
    "id",
  );
  return list;
}

function checkSet(complexity: string, given: unknown, requester: readonly string[]): CheckpointSet {
  if (!COMPLEXITIES.some((one) => one === complexity))
    rejectInput(`"${displayValue(complexity)}" is not a complexity; there are ${COMPLEXITIES.join(", ")}.`);
  const set = checkFields(`The set "${complexity}"`, given, SET) as Partial<CheckpointSet>;
  if (set.checkpoints === undefined)
    return rejectInput(`The set "${complexity}" has no list of checkpoints.`);
  return { ...set, checkpoints: checkList(set.checkpoints, requester) };
}

/**
 * Checks a list of checkpoints, or sets of them, and removes fields that are undefined. Principals in `requester` can
 * never be among the approvers.
 */
export function checkCheckpoints(given: unknown, requester: readonly string[] = []): Checkpoints {
  if (Array.isArray(given)) return checkList(given, requester);
  const names = COMPLEXITIES.join(", ");
  if (!isJsonObject(given))
    return rejectInput(`Checkpoints are a list, or an object of sets by complexity: ${names}.`);
  const sets = Object.entries(given).filter(([, set]) => set !== undefined);
  if (sets.length === 0)
    rejectInput(`There is no set of checkpoints; there has to be at least one of ${names}.`);
  return Object.fromEntries(sets.map(([name, set]) => [name, checkSet(name, set, requester)]));
}
