/** Which files hold cases, and the policies that they are of. */
import { existsSync, readdirSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { policyFileOf, readCases } from "../../policy/read.ts";
import { CommandError } from "../failure.ts";
import { isModule } from "./module-policy.ts";
import { textOf } from "./text-of.ts";

const CASES = /\.test\.(ya?ml|json)$/;
const SEARCHED = /\.test\.ya?ml$/;
const LEFT_OUT = new Set(["node_modules", "dist", "coverage"]);
const DEEPEST = 6;

/** Cases, and the policy that was named, where that was done. */
export type CaseFile = { readonly file: string; readonly of?: string };

const casesOf = (policy: string): string =>
  isModule(policy)
    ? policy.replace(/\.[cm]?[jt]s$/, ".test.yaml")
    : policy.replace(/\.(ya?ml|json)$/, ".test.$1");

/** The cases of a policy stand beside it. */
function casesFor(given: string): CaseFile {
  if (CASES.test(given)) return { file: given };
  const cases = casesOf(given);
  if (cases !== given && existsSync(cases)) return { file: cases, of: given };
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

const MODULES = [".ts", ".mts", ".js", ".mjs"];

/** The policy beside cases: the file of the same kind, else a module. The first is named where there is none. */
function besideOf(file: string): string | undefined {
  const beside = policyFileOf(file);
  if (beside === undefined || existsSync(beside)) return beside;
  const modules = MODULES.map((end) => beside.replace(/\.(ya?ml|json)$/, end));
  return modules.find((one) => existsSync(one)) ?? beside;
}

/** Found by looking around, it may belong to something else altogether. */
function isOfPolicy(file: string): boolean {
  const beside = besideOf(file);
  if (beside !== undefined && existsSync(beside)) return true;
  const read = readCases(textOf(file));
  return read.ok && read.cases.policy !== undefined;
}

export function caseFiles(given: readonly string[], here: string): readonly CaseFile[] {
  if (given.length > 0) return [...new Map(given.map(casesFor).map((one) => [keyOf(one), one])).values()];
  const found = below(here, DEEPEST).filter(isOfPolicy);
  if (found.length > 0) return found.map((file) => ({ file: relative(here, file) }));
  throw new CommandError(
    "usage",
    "There are no cases here: files that end in .test.yaml beside a policy.",
    "Name a file: holdpoint policy test <file>",
  );
}

const keyOf = ({ file, of }: CaseFile): string => `${file} ${of === undefined ? besideOf(file) : of}`;

/** What the cases name comes before what was given: they were written for that. */
export function policyOf(file: string, named: string | undefined, of?: string): string {
  const beside = of ?? besideOf(file);
  const policy = named === undefined ? beside : relative("", resolve(dirname(file), named));
  if (policy !== undefined && existsSync(policy)) return policy;
  throw new CommandError(
    "usage",
    `There is no policy ${policy ?? "beside"} for the cases in ${file}.`,
    "Name it at the head of the cases: policy: <file>",
  );
}
