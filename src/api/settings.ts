/** All settings of the server in one table: a flag wins over the environment, which wins over the default. */
import { z } from "zod";
import { HoldpointError } from "../kernel/errors.ts";
import { isPrincipal } from "../kernel/principal.ts";
import { deliveryFaults } from "../notify/settings.ts";
import { databaseInFile, type ReadTextFile } from "../runtime/settings.ts";

const port = z.coerce.number().int().min(0).max(65_535);
const count = z.coerce.number().int().min(1).max(1_000_000);
const text = z.string().min(1).max(4_096);
const names = z.array(z.string().regex(/^[A-Za-z0-9.[\]:-]{1,255}$/, "is not the name of a host"));

type Setting = {
  /** Without a flag, only the environment sets it. */
  readonly flag?: string;
  /** The first one that is set wins. */
  readonly variables: readonly string[];
  readonly schema: z.ZodType;
  readonly fallback?: unknown;
  /** A flag that is on or off, or one that may be repeated; in the environment `true` or a comma-separated list. */
  readonly form?: "switch" | "list";
};

export const SETTINGS = {
  host: { flag: "host", variables: ["HOLDPOINT_HOST"], schema: text, fallback: "127.0.0.1" },
  port: { flag: "port", variables: ["HOLDPOINT_PORT", "PORT"], schema: port, fallback: 8_000 },
  data: { flag: "data", variables: ["HOLDPOINT_DATA"], schema: text },
  database: {
    flag: "database",
    variables: ["HOLDPOINT_DATABASE", "DATABASE_URL"],
    schema: text.regex(/^postgres(ql)?:\/\/./, "is not an address such as postgres://user@host/database"),
  },
  /** File from which the database's address is read. */
  databaseFile: { variables: ["HOLDPOINT_DATABASE_FILE"], schema: text },
  policy: { flag: "policy", variables: ["HOLDPOINT_POLICY"], schema: text },
  definitions: { flag: "definitions", variables: ["HOLDPOINT_DEFINITIONS"], schema: text },
  /** Runs a built-in example agent that asks people, for users who have no agent yet. */
  example: {
    flag: "example",
    variables: ["HOLDPOINT_EXAMPLE"],
    schema: z.boolean(),
    fallback: false,
    form: "switch",
  },
  /** Agent in whose name the node runs workflows: the same on all nodes, since any may resume a workflow. */
  agent: {
    flag: "agent",
    variables: ["HOLDPOINT_AGENT"],
    schema: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._@-]{0,127}$/, "is not a name"),
    fallback: "server",
  },
  /** Port of a worker's health endpoint. Default: it does not listen. */
  healthPort: { flag: "health-port", variables: ["HOLDPOINT_HEALTH_PORT"], schema: port },
  allowHost: {
    flag: "allow-host",
    variables: ["HOLDPOINT_ALLOW_HOST"],
    schema: names,
    fallback: [],
    form: "list",
  },
  /** First admin of an empty store. Default: the user who starts the server. */
  firstAdmin: {
    flag: "first-admin",
    variables: ["HOLDPOINT_FIRST_ADMIN"],
    schema: z
      .string()
      .regex(/^(?!agent:|service:)/, "is not a person's name")
      .transform((name) => (name.startsWith("person:") ? name : `person:${name}`))
      .refine(isPrincipal, "is not a person's name"),
  },
  noAuth: {
    flag: "no-auth",
    variables: ["HOLDPOINT_NO_AUTH"],
    schema: z.boolean(),
    fallback: false,
    form: "switch",
  },
  /** Log format. Default: depends on where the log is written. */
  log: { flag: "log", variables: ["HOLDPOINT_LOG"], schema: z.enum(["json", "text", "off"]) },
  /** Requests per second of one credential, and its burst. */
  rate: { variables: ["HOLDPOINT_RATE"], schema: count, fallback: 1_000 },
  burst: { variables: ["HOLDPOINT_BURST"], schema: count, fallback: 2_000 },
  /** Open event streams per credential. */
  listeners: { variables: ["HOLDPOINT_LISTENERS"], schema: count, fallback: 100 },
  /** Waiting requests: per principal, and in total. */
  holds: { variables: ["HOLDPOINT_HOLDS"], schema: count, fallback: 500 },
  allHolds: { variables: ["HOLDPOINT_ALL_HOLDS"], schema: count, fallback: 5_000 },
  /** Pending approvals per principal. */
  pending: { variables: ["HOLDPOINT_PENDING"], schema: count, fallback: 1_000 },
  /** On PostgreSQL: how long a silent node keeps its lease before other nodes take over its work. */
  leaseSeconds: {
    variables: ["HOLDPOINT_LEASE_SECONDS"],
    schema: z.coerce.number().int().min(1).max(3_600),
    fallback: 15,
  },
  /** At shutdown: how long requests in progress may take. */
  graceSeconds: {
    variables: ["HOLDPOINT_GRACE_SECONDS"],
    schema: z.coerce.number().int().min(0).max(600),
    fallback: 8,
  },
  /** At shutdown: how long effects in progress may take. */
  drainSeconds: {
    flag: "drain-seconds",
    variables: ["HOLDPOINT_DRAIN_SECONDS"],
    schema: z.coerce.number().int().min(0).max(3_600),
    fallback: 30,
  },
} as const satisfies Record<string, Setting>;

/** Those without a default are undefined if nothing sets them. */
export type Settings = {
  readonly [Name in keyof typeof SETTINGS]: (typeof SETTINGS)[Name] extends { readonly fallback: unknown }
    ? z.output<(typeof SETTINGS)[Name]["schema"]>
    : z.output<(typeof SETTINGS)[Name]["schema"]> | undefined;
};

type SettingSources = {
  readonly flags: ReadonlyMap<string, readonly string[]>;
  readonly environment: (name: string) => string | undefined;
  /** Whether the file exists. Default: not checked. */
  readonly isFile?: (path: string) => boolean;
  /** Reads a file. */
  readonly readText?: ReadTextFile;
};

/** The address in the file applies if no flag sets the journal's location. Also returns its faults. */
function fromFile(
  { databaseFile, database }: Partial<Settings>,
  { flags, readText }: SettingSources,
): { readonly database: string | undefined; readonly faults: readonly string[] } {
  if (databaseFile === undefined || flags.has("database") || flags.has("data"))
    return { database, faults: [] };
  try {
    return { database: databaseInFile(databaseFile, readText), faults: [] };
  } catch (error) {
    const what = error instanceof HoldpointError ? error.what : String(error);
    return { database: undefined, faults: [`HOLDPOINT_DATABASE_FILE: ${what.replace(/\.$/, "")}`] };
  }
}

type RawSetting = { readonly where: string; readonly value: unknown };

function fromFlag({ flag, form }: Setting, { flags }: SettingSources): RawSetting | undefined {
  const values = flag === undefined ? undefined : flags.get(flag);
  if (values === undefined) return undefined;
  const where = `--${flag}`;
  if (form === "switch") return { where, value: true };
  return { where, value: form === "list" ? values : values.at(-1) };
}

const SWITCHES: { readonly [text: string]: boolean } = { true: true, "1": true, false: false, "0": false };

function fromEnvironment(
  { variables, form }: Setting,
  { environment }: SettingSources,
): RawSetting | undefined {
  const where = variables.find((name) => (environment(name) ?? "") !== "");
  if (where === undefined) return undefined;
  const value = environment(where) ?? "";
  if (form === "switch") return { where, value: SWITCHES[value.toLowerCase()] ?? value };
  if (form === "list") return { where, value: value.split(",").map((part) => part.trim()) };
  return { where, value };
}

const LOOPBACK = new Set(["127.0.0.1", "::1", "localhost"]);
export const isLoopback = (host: string): boolean => LOOPBACK.has(host.toLowerCase());

function readOne(
  setting: Setting,
  given: SettingSources,
): { readonly value: unknown } | { readonly fault: string } {
  const said = fromFlag(setting, given) ?? fromEnvironment(setting, given);
  if (said === undefined) return { value: setting.fallback };
  const result = setting.schema.safeParse(said.value);
  if (result.success) return { value: result.data };
  return { fault: `${said.where}: ${result.error.issues.map(({ message }) => message).join(", ")}` };
}

/**
 * Faults of settings in combination. A folder given as a flag wins over a database from the environment. A setting that
 * is invalid by itself is undefined here.
 */
function faultsTogether(
  { noAuth, host, databaseFile, database, example }: Partial<Settings>,
  { flags, environment }: SettingSources,
): readonly string[] {
  const isTwice = databaseFile !== undefined && (environment("HOLDPOINT_DATABASE") ?? "") !== "";
  const isShared = example === true && database !== undefined && !flags.has("data");
  const exposed = noAuth === true && host !== undefined && !isLoopback(host);
  return [
    ...(exposed ? [`--no-auth: only with a loopback address, and --host is ${host}`] : []),
    ...(flags.has("data") && flags.has("database") ? ["--data and --database exclude each other"] : []),
    ...(isShared ? ["--example: only with a data folder, and this is a database"] : []),
    ...(isTwice ? ["HOLDPOINT_DATABASE and HOLDPOINT_DATABASE_FILE exclude each other"] : []),
  ];
}

function filesMissing(
  settings: Partial<Settings>,
  { isFile = () => true }: SettingSources,
): readonly string[] {
  return (["policy", "definitions"] as const).flatMap((name) => {
    const path = settings[name];
    return path === undefined || isFile(path) ? [] : [`--${name}: there is no file ${path}`];
  });
}

function refused(faults: readonly string[]): HoldpointError {
  return new HoldpointError("invalid_input", `The settings cannot be used: ${faults.join("; ")}.`, {
    details: { faults },
    data: "Nothing was started.",
    next: "Correct what is named; `--help` after the command and the reference of settings have all of them.",
  });
}

/** Reports all faults at once, including those of notification settings. */
export function readSettings(given: SettingSources): Settings {
  const read = Object.entries(SETTINGS).map(([name, setting]) => [name, readOne(setting, given)] as const);
  const said = Object.fromEntries(
    read.map(([name, one]) => [name, "value" in one ? one.value : undefined]),
  ) as Settings;
  const filed = fromFile(said, given);
  const settings = { ...said, database: filed.database };
  const faults = [
    ...filed.faults,
    ...read.flatMap(([, one]) => ("fault" in one ? one.fault : [])),
    ...faultsTogether(settings, given),
    ...filesMissing(settings, given),
    ...deliveryFaults(given.environment).map(({ where, what }) => `${where}: ${what.replace(/\.$/, "")}`),
  ];
  if (faults.length > 0) throw refused(faults);
  return given.flags.has("data") ? { ...settings, database: undefined } : settings;
}
