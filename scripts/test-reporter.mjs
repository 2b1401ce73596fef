// One line per test file, each failure in short below it and in full at the end, the slowest files, and a closing line
// "N passed, N failed".
import { readFileSync } from "node:fs";
import path from "node:path";
import { inspect } from "node:util";
import { membersOf } from "./test-groups.mjs";

export default async function* report(events) {
  const run = { files: new Map(), durations: [], passed: 0, skipped: 0, failures: failedChecks() };
  for await (const { type, data } of events) {
    if (type === "test:complete") yield complete(run, data);
    if (type === "test:stdout" || type === "test:stderr" || type === "test:diagnostic") listen(run, data);
  }
  yield summary(run);
  if (run.passed === 0 || run.failures.length > 0) process.exitCode = 1;
}

// Lint and type errors are found before the tests run and have to show in the same closing line.
function failedChecks() {
  const names = (process.env.HOLDPOINT_FAILED_CHECKS ?? "").split(",").filter(Boolean);
  return names.map((name) => ({
    title: name,
    text: "failed before the tests; its report is at the top of this output",
  }));
}

function complete(run, data) {
  if (isFile(data)) return completeFile(run, data);
  const file = fileOf(run, data.file);
  const { error, type, duration_ms: duration } = data.details;
  file.seen = true;
  if (data.nesting === 0) file.took += duration;
  if (data.skip !== undefined || data.todo !== undefined) run.skipped += 1;
  else if (error !== undefined) fail(run, file, data, error);
  else if (type !== "suite") {
    run.passed += 1;
    file.passed += 1;
  }
  return "";
}

function completeFile(run, data) {
  const file = fileOf(run, data.file);
  const { error, duration_ms: duration } = data.details;
  if (error !== undefined) fail(run, file, data, error);
  const members = membersOf(data.file);
  if (members === undefined) return closed(run, data, duration);
  const lines = members.map((member) => closed(run, { ...data, name: member, file: member }));
  return `${lines.join("")}${file.failed > 0 ? `${line(data.file, file)}${brief(run, file)}` : ""}`;
}

function closed(run, data, duration) {
  const file = fileOf(run, data.file);
  run.durations.push([relative(data.file), duration ?? file.took]);
  if (file.failed === 0 && !file.seen && !isNarrowed && !runsSuite(data.file))
    fail(run, file, data, "the file holds no tests");
  return `${line(data.file, file, duration)}${brief(run, file)}`;
}

// Where only a part of a long output is kept, it still says what failed and why.
function brief(run, file) {
  const failures = run.failures.filter((failure) => failure.file === file);
  return failures.map(({ title, text }) => `${indent(`${title}\n${indent(shortened(text))}`)}\n`).join("");
}

const shortened = (text) => text.split("\n").slice(0, 12).join("\n").slice(0, 1_000);

function line(name, { failed, passed, took }, duration = took) {
  const verdict = failed > 0 ? `FAILED ${failed}` : "ok";
  return `${verdict.padEnd(9)} ${relative(name)} (${passed} passed, ${Math.round(duration)} ms)\n`;
}

function fail(run, file, data, error) {
  // A parent of a failed test fails too; only the test that failed by itself is worth reporting.
  if (error.failureType === "subtestsFailed") return;
  file.failed += 1;
  const title = isFile(data) ? relative(data.file) : `${relative(data.file)}:${data.line}  ${data.name}`;
  run.failures.push({ title, text: describe(error.cause ?? error), file });
}

function describe(error) {
  if (typeof error === "string") return error;
  const isAssertion = error?.code === "ERR_ASSERTION";
  return isAssertion ? error.stack : inspect(error, { depth: 6 });
}

function listen(run, data) {
  if (data.file !== undefined) fileOf(run, data.file).output += `${data.message.replace(/\n$/, "")}\n`;
}

const SLOWEST = 20;

// A file in a group counts its own tests; a file alone counts the start of its process, too.
function slowest(durations) {
  const first = durations.toSorted(([, one], [, other]) => other - one).slice(0, SLOWEST);
  const rows = first.map(([name, ms]) => `${(ms / 1_000).toFixed(1).padStart(7)} s  ${name}`);
  return durations.length > SLOWEST ? [`slowest ${SLOWEST} of ${durations.length} files`, ...rows, ""] : [];
}

function summary({ files, durations, passed, skipped, failures }) {
  const lines = ["", ...slowest(durations)];
  for (const { title, text } of failures) lines.push(`FAILED  ${title}`, indent(text), "");
  for (const [name, { failed, output }] of files) {
    if (failed > 0 && output !== "") lines.push(`output of ${relative(name)}`, indent(output), "");
  }
  if (passed + failures.length === 0) lines.push("no test ran");
  if (skipped > 0) lines.push(`${skipped} skipped`);
  lines.push(`${passed} passed, ${failures.length} failed`, "");
  return lines.join("\n");
}

function fileOf(run, given) {
  // Output events carry the path as it was given, the others an absolute one.
  const name = path.resolve(given);
  const file = run.files.get(name) ?? { passed: 0, failed: 0, seen: false, took: 0, output: "" };
  run.files.set(name, file);
  return file;
}

// Under a name pattern, most files rightly run nothing.
const isNarrowed = process.execArgv.some((flag) => /^--test-(name-pattern|skip-pattern|only)/.test(flag));

// Tests of a shared suite are reported under the suite's file, not under the file that runs it.
const runsSuite = (file) => /^storeContract\(/m.test(readFileSync(file, "utf8"));

// The runner reports a file itself as a test whose name is its path.
const isFile = (data) => data.nesting === 0 && path.resolve(data.name) === data.file;
const relative = (file) => path.relative(process.cwd(), file);
const indent = (text) => text.trimEnd().replace(/^(?=.)/gm, "  ");
