/**
 * Files that commands work with: the store, the project file `holdpoint.json`, files that they write, and modules whose
 * default export takes an instance: one that declares tools and workflows on it, or one that returns a workflow to run.
 * - Commands never create a store, never take an epoch and so never recover anything.
 * - A written file appears under its name only when it is complete; a partial one is removed, also after Ctrl-C.
 */
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Holdpoint } from "../../index.ts";
import { HoldpointError, isHoldpointError } from "../../kernel/errors.ts";
import { isJsonObject, parseJson } from "../../kernel/json.ts";
import { errorText } from "../../kernel/text.ts";
import { databaseUrl, databaseWithoutPassword, dataFolder } from "../../runtime/settings.ts";
import type { Workflow } from "../../workflows/definition.ts";
import { CommandError, EXIT, fileError, type Instance, type Values } from "./command.ts";

const FILE = "journal.db";
const ABSENT = new Set(["ENOENT", "ENOTDIR"]);

export function folderOf(given: string | undefined): string {
  return dataFolder(given, (name) => process.env[name], process.cwd());
}

/** An empty file is a store whose creation never finished: nothing can be in it. */
export function hasStore(folder: string): boolean {
  try {
    return statSync(join(folder, FILE)).size > 0;
  } catch (cause) {
    if (ABSENT.has(String((cause as NodeJS.ErrnoException).code))) return false;
    throw unreadable(folder, cause);
  }
}

function unreadable(folder: string, cause: unknown): HoldpointError {
  return new HoldpointError("store_unavailable", `The folder ${folder} cannot be looked into.`, { cause });
}

export type LocatedStore = {
  readonly where: ({ readonly folder: string } | { readonly database: string }) & {
    readonly tenant?: string;
  };
  readonly shown: string;
  /** For a database, this is determined when it is opened. */
  readonly hasStore: boolean;
};

/** A flag wins over the environment, and a database over a folder. */
export function locateStore(values: Values): LocatedStore {
  const typed = { folder: values.get("data")?.at(-1), database: values.get("database")?.at(-1) };
  if (typed.folder !== undefined && typed.database !== undefined)
    throw new CommandError("usage", "--data and --database exclude each other.", "Leave one out.");
  const tenant = values.get("tenant")?.at(-1);
  const of = tenant === undefined ? {} : { tenant };
  const database = databaseUrl(typed, (name) => process.env[name]);
  if (database !== undefined)
    return { where: { database, ...of }, shown: databaseWithoutPassword(database), hasStore: true };
  const folder = folderOf(typed.folder);
  return { where: { folder, ...of }, shown: folder, hasStore: hasStore(folder) };
}

/** Copies the descriptors, so that a group still loads when it is first used. */
async function withAdmin(hp: Holdpoint): Promise<Instance> {
  const { admin } = await import("../../admin.ts");
  return Object.defineProperties(hp, Object.getOwnPropertyDescriptors(admin(hp))) as Instance;
}

/** Loads the library only for commands that use a store. */
export async function openExistingStore({ where }: LocatedStore): Promise<Instance> {
  const { holdpoint } = await import("../../index.ts");
  return withAdmin(holdpoint({ ...where, mode: "existing", agent: "cli", notify: () => {} }));
}

export const PROJECT_FILE = "holdpoint.json";

type Project = {
  readonly folder: string;
  /** The default file of `holdpoint run`. */
  readonly workflow: string;
};

function readProject(file: string): Project {
  let value: unknown;
  try {
    value = parseJson(readFileSync(file, "utf8"));
  } catch (error) {
    throw fileError(file, error);
  }
  const workflow = isJsonObject(value as never) ? (value as { workflow?: unknown }).workflow : undefined;
  if (typeof workflow !== "string" || workflow === "")
    throw new CommandError(
      "usage",
      `The file ${file} names no workflow.`,
      'It looks like { "workflow": "workflow.ts" }.',
    );
  const folder = dirname(file);
  return { folder, workflow: resolve(folder, workflow) };
}

export function findProject(from: string): Project | undefined {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const file = join(folder, PROJECT_FILE);
    if (existsSync(file)) return readProject(file);
    if (dirname(folder) === folder) return undefined;
  }
}

const OWNER_ONLY = 0o600;

/** For secrets: written at once, and never readable by other users in between. */
export function writePrivateJson(file: string, value: unknown): void {
  const draft = `${file}.${process.pid}`;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  try {
    writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: OWNER_ONLY });
    chmodSync(draft, OWNER_ONLY);
    renameSync(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
}

function writeAll(descriptor: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
}

export async function writeWholeFile(file: string, chunks: AsyncIterable<string>): Promise<void> {
  const target = resolve(file);
  const part = `${target}.${process.pid}.part`;
  const remove = () => rmSync(part, { force: true });
  const interrupted = () => {
    remove();
    process.exit(EXIT.interrupted);
  };
  let descriptor: number | undefined;
  process.once("SIGINT", interrupted);
  try {
    descriptor = attempt(file, () => openSync(part, "wx", OWNER_ONLY));
    const opened = descriptor;
    for await (const chunk of chunks) attempt(file, () => writeAll(opened, chunk));
    attempt(file, () => fsyncSync(opened));
    attempt(file, () => renameSync(part, target));
  } finally {
    process.removeListener("SIGINT", interrupted);
    if (descriptor !== undefined) closeSync(descriptor);
    remove();
  }
}

/** Separates faults of the file from those of the store that fills it. */
function attempt<Answer>(file: string, work: () => Answer): Answer {
  try {
    return work();
  } catch (error) {
    throw fileError(file, error);
  }
}

const DEFINITIONS_SHAPE =
  "Its default export is a function: export default (hp) => { hp.gate(…); hp.workflow(…); }";

function broken(file: string, what: string, error: unknown): CommandError {
  const next = "Run it again with DEBUG=1 to see where.";
  return new CommandError("usage", `The file ${file} ${what}: ${errorText(error)}`, next, error);
}

export async function importDefault(file: string): Promise<unknown> {
  if (!existsSync(file)) throw new CommandError("usage", `There is no file ${file}.`, "Check the path.");
  try {
    return ((await import(pathToFileURL(file).href)) as { default?: unknown }).default;
  } catch (error) {
    throw broken(file, "cannot be loaded", error);
  }
}

type Define = (hp: Holdpoint) => Promise<void>;

export async function loadDefinitions(path: string): Promise<Define> {
  const file = resolve(path);
  const define = await importDefault(file);
  if (typeof define !== "function")
    throw new CommandError("usage", `The file ${file} declares nothing.`, DEFINITIONS_SHAPE);
  return async (hp) => {
    try {
      await (define as (hp: Holdpoint) => unknown)(hp);
    } catch (error) {
      if (isHoldpointError(error)) throw error;
      throw broken(file, "failed", error);
    }
  };
}

const WORKFLOW_SHAPE =
  "Its default export is a function: export default (hp) => hp.workflow(name, async (ctx, input) => …)";

export type LoadedWorkflow = {
  readonly workflow: Workflow<unknown, unknown>;
  /** Tools that have an effect and declare no cost: no budget counts them. */
  readonly uncounted: readonly string[];
};

function isWorkflow(value: unknown): value is Workflow<unknown, unknown> {
  const { workflowName, start } = (value ?? {}) as { workflowName?: unknown; start?: unknown };
  return typeof workflowName === "string" && typeof start === "function";
}

export async function loadWorkflow(hp: Holdpoint, file: string): Promise<LoadedWorkflow> {
  const define = await importDefault(file);
  if (typeof define !== "function")
    throw new CommandError("usage", `The file ${file} exports no workflow.`, WORKFLOW_SHAPE);
  const uncounted: string[] = [];
  const gate: Holdpoint["gate"] = (definition) => {
    const tool = hp.gate(definition);
    if (definition.cost === undefined && definition.effect !== "read") uncounted.push(definition.name);
    return tool;
  };
  let workflow: unknown;
  try {
    workflow = await (define as (hp: Holdpoint) => unknown)({ ...hp, gate });
  } catch (error) {
    if (isHoldpointError(error)) throw error;
    throw broken(file, "failed", error);
  }
  if (isWorkflow(workflow)) return { workflow, uncounted };
  throw new CommandError("usage", `What the file ${file} exports answers no workflow.`, WORKFLOW_SHAPE);
}
