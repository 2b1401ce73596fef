/** Which files hold cases, and the policies that they are of. */
import { existsSync, readdirSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { policyFileOf, readCases } from "../../engine/policy/read-cases.ts";
import { CommandError } from "../failure.ts";
import { textOf } from "./text-of.ts";

const CASES = /\.test\.(ya?ml|json)$/;
const SEARCHED = /\.test\.ya?ml$/;
const LEFT_OUT = new Set(["node_modules", "dist", "coverage"]);
const DEEPEST = 6;

/** The cases of a policy stand beside it. */
function casesFor(given: string): string {
  if (CASES.test(given)) return given;
  const cases = given.replace(/\.(ya?ml|json)$/, ".test.$1");
  if (cases !== given && existsSync(cases)) return cases;
  throw new CommandError(
    "usage",
    `There are no cases beside ${given}.`,
    `Write some into ${cases === given ? "a file that ends in .test.yaml" : cases}.`,
  );
}

function below(folder: string, depth: number): readonly string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isFile()) return SEARCHED.test(entry.name) ? [path] : [];
    const isWanted = entry.isDirectory() && !entry.name.startsWith(".") && !LEFT_OUT.has(entry.name);
    return isWanted && depth > 0 ? below(path, depth - 1) : [];
  });
}

/** Found by looking around, it may belong to something else altogether. */
function isOfPolicy(file: string): boolean {
  const beside = policyFileOf(file);
  if (beside !== undefined && existsSync(beside)) return true;
  const read = readCases(textOf(file));
  return read.ok && read.cases.policy !== undefined;
}

export function caseFiles(given: readonly string[], here: string): readonly string[] {
  if (given.length > 0) return [...new Set(given.map(casesFor))];
  const found = below(here, DEEPEST).filter(isOfPolicy);
  if (found.length > 0) return found.map((file) => relative(here, file));
  throw new CommandError(
    "usage",
    "There are no cases here: files that end in .test.yaml beside a policy.",
    "Name a file: holdpoint policy test <file>",
  );
}

export function policyOf(file: string, named: string | undefined): string {
  const policy = named === undefined ? policyFileOf(file) : relative("", resolve(dirname(file), named));
  if (policy !== undefined && existsSync(policy)) return policy;
  throw new CommandError(
    "usage",
    `There is no policy ${policy ?? "beside"} for the cases in ${file}.`,
    "Name it at the head of the cases: policy: <file>",
  );
}
