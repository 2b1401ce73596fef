/** The files under deploy/, and what the reference says that can be set. */
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import path from "node:path";
import { parseAllDocuments } from "yaml";
import { codeCells, ROOT, readRoot } from "../docs/markdown.ts";
import { parseDockerfile, type Stage } from "./dockerfile.ts";

export type Fields = { readonly [name: string]: unknown };

export function stages(): readonly Stage[] {
  return parseDockerfile(readRoot("deploy/Dockerfile"));
}

export function runtimeStage(): Stage {
  const stage = stages().at(-1);
  if (stage === undefined) throw new Error("no stage");
  return stage;
}

/** Every document of a file; a fault of any of them is thrown. */
export function documents(file: string): readonly Fields[] {
  return parseAllDocuments(readRoot(file), { merge: true, strict: true }).map((one) => {
    const [fault] = [...one.errors, ...one.warnings];
    if (fault !== undefined) throw fault;
    return one.toJS() as Fields;
  });
}

export const namesIn = (folder: string): readonly string[] => readdirSync(path.join(ROOT, folder)).sort();

/** Follows names and numbers into a parsed document. */
export function at(value: unknown, ...steps: readonly (string | number)[]): unknown {
  return steps.reduce<unknown>((found, step) => (found as Fields | undefined)?.[step], value);
}
export const list = (value: unknown, ...steps: readonly (string | number)[]): readonly unknown[] =>
  (at(value, ...steps) ?? []) as readonly unknown[];
export const fields = (value: unknown, ...steps: readonly (string | number)[]): Fields =>
  (at(value, ...steps) ?? {}) as Fields;

/** Every environment variable of the reference. */
export function variables(): ReadonlySet<string> {
  const cells = codeCells(readRoot("docs/reference/settings.md"));
  return new Set(cells.filter((cell) => /^[A-Z][A-Z0-9_]+$/.test(cell)));
}

export function committed(): readonly string[] {
  return execFileSync("git", ["ls-files"], { cwd: ROOT, encoding: "utf8" }).trim().split("\n");
}

/** `1m30s` and the like, in seconds. */
export function seconds(text: unknown): number {
  const parts = [...String(text).matchAll(/(\d+)(h|m|s)/g)];
  const size = { h: 3_600, m: 60, s: 1 } as Record<string, number>;
  return parts.reduce((sum, [, many, unit]) => sum + Number(many) * (size[unit ?? ""] ?? 0), 0);
}

/** How long a node that is told to stop may take: what requests get, then what effects get. */
export function drainSeconds(graceSeconds: unknown, effectSeconds: unknown): number {
  return Number(graceSeconds) + Number(effectSeconds);
}
