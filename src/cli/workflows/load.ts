/**
 * Loads a file whose default export takes an instance: one that declares tools and workflows on it, or one that returns
 * a workflow to run (export default (hp) => hp.workflow(…)).
 */

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Holdpoint } from "../../index.ts";
import { isHoldpointError } from "../../kernel/errors.ts";
import { errorText } from "../../kernel/text.ts";
import type { Workflow } from "../../workflows/definition.ts";
import { CommandError } from "../shell/command.ts";

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
