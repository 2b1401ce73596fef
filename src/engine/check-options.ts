/** The options of an instance, checked when it is made and not at the first call. */
import { HoldpointError } from "../kernel/errors.ts";
import { checkFields, isPlainObject } from "../kernel/fields.ts";
import { isPrincipal } from "../kernel/principal.ts";

type Rule = { readonly isRight: (value: unknown) => boolean; readonly what: string };

const isPath = (value: unknown) => typeof value === "string" && value !== "";
const isText = (value: unknown) => typeof value === "string" && value !== "" && value.length <= 100;
const isFunction = (value: unknown) => typeof value === "function";

/** Every option there is, and what it has to be when it is given. */
export const OPTIONS: Readonly<Record<string, Rule>> = {
  folder: { isRight: isPath, what: "is a path" },
  database: {
    isRight: (value) => typeof value === "string" && /^postgres(ql)?:\/\/./.test(value),
    what: "is an address such as postgres://user@host/database",
  },
  keyFile: { isRight: isPath, what: "is a path" },
  tenant: {
    isRight: (value) => typeof value === "string" && /^[A-Za-z0-9_-]{1,64}$/.test(value),
    what: "is a name of at most 64 letters, digits, _ and -",
  },
  agent: {
    isRight: (value) =>
      isPrincipal(`agent:${String(value)}`) && typeof value === "string" && !isPrincipal(value),
    what: 'is a name such as mailer, without "agent:"',
  },
  actsFor: {
    isRight: (value) => Array.isArray(value) && value.every(isPrincipal),
    what: "is a list of principals such as person:ann",
  },
  separationOfDuties: {
    isRight: (value) => typeof value === "boolean",
    what: "is true or false",
  },
  policy: {
    isRight: (value) => isPath(value) || (typeof value === "object" && value !== null),
    what: "is a path, or a policy document",
  },
  node: {
    isRight: (value) =>
      isPlainObject(value) && isText(Reflect.get(value, "kind")) && isText(Reflect.get(value, "version")),
    what: "is what a process says of itself: { kind, version }",
  },
  drainMs: {
    isRight: (value) => Number.isSafeInteger(value) && Number(value) >= 0,
    what: "is a whole number of milliseconds",
  },
  notify: { isRight: isFunction, what: "is a function" },
  reach: { isRight: isFunction, what: "is a function" },
  store: {
    isRight: (value) => isFunction((value as { transact?: unknown } | null)?.transact),
    what: "is an open store",
  },
  mode: {
    isRight: (value) => value === "read-write" || value === "existing",
    what: "is read-write or existing",
  },
};

function checkNode(node: unknown): void {
  if (isPlainObject(node)) checkFields('The option "node"', node, ["kind", "version"]);
}

export function checkOptions(options: unknown): void {
  checkFields("What holdpoint() takes", options, Object.keys(OPTIONS));
  const { folder, database } = options as { readonly folder?: unknown; readonly database?: unknown };
  if (folder !== undefined && database !== undefined)
    throw new HoldpointError("invalid_input", 'The options "folder" and "database" exclude each other.');
  checkNode((options as { readonly node?: unknown }).node);
  for (const [field, value] of Object.entries(options as object)) {
    const rule = OPTIONS[field];
    if (value !== undefined && rule !== undefined && !rule.isRight(value))
      throw new HoldpointError("invalid_input", `The option "${field}" ${rule.what}.`);
  }
}
