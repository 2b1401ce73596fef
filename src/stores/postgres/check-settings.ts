import { HoldpointError } from "../../kernel/errors.ts";
import { isDatabaseUrl } from "./address.ts";

type Rule = readonly [isRight: (value: unknown) => boolean, what: string];

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
/** PostgreSQL cuts longer names off, and two would become one. */
const isName: Rule = [
  (value) => isText(value) && Buffer.byteLength(value) <= 63 && !value.includes("\0"),
  "is a name of at most 63 bytes",
];
const isCount = (least: number, most: number): Rule => [
  (value) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most,
  `is a whole number from ${least} to ${most}`,
];

const SETTINGS: Readonly<Record<string, Rule>> = {
  database: [
    (value) => isText(value) && isDatabaseUrl(value),
    "is an address such as postgres://user@host/database",
  ],
  schema: isName,
  role: isName,
  applicationName: isName,
  connections: isCount(2, 1_000),
  leaseMs: isCount(1_000, 3_600_000),
  busyMs: isCount(1, 3_600_000),
  mode: [(value) => value === "read-write" || value === "existing", "is read-write or existing"],
};

/** No value is repeated: the address may hold a password. */
export function checkSettings(settings: unknown): void {
  if (typeof settings !== "object" || settings === null)
    throw wrong("What openPostgres() takes is an object.");
  const given = new Map<string, unknown>(Object.entries(settings));
  if (!given.has("database")) throw wrong('The setting "database" is needed.');
  for (const [name, value] of given) {
    const rule = SETTINGS[name];
    if (rule === undefined) throw wrong(`There is no setting "${name}".`);
    if (value !== undefined && !rule[0](value)) throw wrong(`The setting "${name}" ${rule[1]}.`);
  }
}

const wrong = (what: string): HoldpointError => new HoldpointError("invalid_input", what);
