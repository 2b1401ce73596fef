/**
 * `holdpoint demo`: an agent's mistake without supervision, corrected by a person, or rejected for good.
 * The person at the terminal approves, modifies or rejects; with --yes the program plays that part.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  CommandError,
  type Context,
  EXIT,
  flag,
  isOn,
  REFUND_FLAGS,
  word,
} from "../../src/cli/shell/command.ts";
import { locateStore } from "../../src/cli/shell/files.ts";
import { PersonLeft, type Prompt, prompt } from "../../src/cli/shell/prompt.ts";
import type { Terminal } from "../../src/cli/shell/terminal.ts";
import { readStory } from "../../src/cli/workflows/story.ts";
import type { Json, JsonObject } from "../../src/kernel/json.ts";
import { visible } from "../../src/kernel/text.ts";
import {
  type Choice,
  type Outcome,
  type Played,
  play,
  type Question,
  type Reviewer,
  type Scenario,
  type Stage,
} from "./play.ts";
import {
  bullet,
  choiceText,
  type Mode,
  paragraph,
  printBeginning,
  printEnd,
  printStory,
  printTotal,
  type Row,
  savedUsd,
  showQuestion,
  totalOf,
} from "./print.ts";
import { playRefund } from "./refund.ts";
import { deploy, legal, pizza, trade } from "./scenarios.ts";

/** The typed text as a value of the same kind as before; undefined if it is not one. */
export function readValue(before: Json, typed: string): Json | undefined {
  if (typeof before === "string") return typed;
  try {
    const value = JSON.parse(typed) as Json;
    const isSame = typeof value === typeof before && Array.isArray(value) === Array.isArray(before);
    return isSame ? value : undefined;
  } catch {
    return undefined;
  }
}

const kindOf = (value: Json): string => (Array.isArray(value) ? "list, as JSON" : typeof value);

async function askField(terminal: Terminal, ask: Prompt, name: string, before: Json): Promise<Json> {
  for (;;) {
    const typed = await ask(`  ${name} [${JSON.stringify(before)}]: `);
    if (typed === "") return before;
    const value = readValue(before, typed);
    if (value !== undefined) return value;
    terminal.line(`  That is not a ${kindOf(before)}. Press Enter to leave it as it is.`);
  }
}

async function askEdit(terminal: Terminal, ask: Prompt, outputs: JsonObject): Promise<JsonObject> {
  const edit: { [field: string]: Json } = {};
  for (const [name, before] of Object.entries(outputs)) {
    const value = await askField(terminal, ask, name, before);
    if (JSON.stringify(value) !== JSON.stringify(before)) edit[name] = value;
  }
  return edit;
}

async function askReason(ask: Prompt): Promise<string> {
  for (;;) {
    const reason = await ask("  Why? The agent is told: ");
    if (reason !== "") return reason;
  }
}

async function askFinal(ask: Prompt): Promise<boolean> {
  for (;;) {
    const typed = (await ask("  May it try again? [y]es, [n]o: ")).toLowerCase();
    if (/^y(es)?$/.test(typed)) return false;
    if (/^no?$/.test(typed)) return true;
  }
}

export async function askPerson(
  terminal: Terminal,
  { outputs }: Pick<Question, "outputs">,
  ask: Prompt = prompt,
): Promise<Choice> {
  for (;;) {
    const typed = (await ask("  [a]pprove, [m]odify, [r]eject: ")).toLowerCase();
    if (/^a(pprove)?$/.test(typed)) return { kind: "approve", note: "" };
    if (/^r(eject)?$/.test(typed))
      return { kind: "reject", reason: await askReason(ask), final: await askFinal(ask) };
    if (!/^m(odify)?$/.test(typed)) continue;
    terminal.line("  Enter leaves a value as it is.");
    const edit = await askEdit(terminal, ask, outputs);
    if (Object.keys(edit).length > 0)
      return { kind: "modify", edit, note: await ask("  A word to the agent (or Enter): ") };
    terminal.line("  Nothing was changed.");
  }
}

const SCENARIOS: readonly Scenario[] = [pizza, trade, deploy, legal];
const MODES: readonly Mode[] = ["without", "with", "reject"];

function modeOf(context: Context): Mode {
  const given = MODES.filter((mode) => isOn(context, mode));
  const next = "Try: holdpoint demo --help";
  if (given.length > 1)
    throw new CommandError("usage", "Choose one of --without, --with and --reject.", next);
  if (word(context) === "all" && given.length > 0)
    throw new CommandError("usage", `demo all plays each without and with; leave --${given[0]} out.`, next);
  return given[0] ?? "with";
}

function checkOwnFlags(context: Context): void {
  const extra = Object.keys(REFUND_FLAGS).find((name) => isOn(context, name));
  if (extra === undefined) return;
  throw new CommandError("usage", `--${extra} is for demo refund.`, "Try: holdpoint demo --help");
}

/** Before anything is played: a person has to be at the keyboard and the screen. */
function checkPerson(context: Context, mode: Mode): void {
  const isAsked = mode !== "without" && !isOn(context, "yes");
  const isThere = process.stdin.isTTY === true && context.terminal.interactive && !context.json;
  if (!isAsked || isThere) return;
  throw new CommandError(
    "usage",
    `demo ${word(context)} asks a person, and there is nobody at this terminal.`,
    "Add --yes, and it plays the person's part as well.",
  );
}

function scripted(context: Context, choices: readonly Choice[]): Reviewer {
  const left = [...choices];
  const { terminal } = context;
  return {
    by: "person:ann",
    async decide(question) {
      const choice = left.shift() ?? { kind: "approve", note: "" };
      if (context.json) return choice;
      showQuestion(terminal, question);
      paragraph(terminal, `Ann decides (played, because of --yes): ${choiceText(choice)}`);
      terminal.line();
      return choice;
    },
  };
}

function atTerminal({ terminal, person }: Context, hint: string): Reviewer {
  let isFirst = true;
  return {
    by: person,
    async decide(question) {
      showQuestion(terminal, question);
      if (isFirst) paragraph(terminal, `You are the reviewer. As the story goes: ${hint}.`);
      isFirst = false;
      const choice = await askPerson(terminal, question);
      terminal.line();
      return choice;
    },
  };
}

function reviewerOf(context: Context, scenario: Scenario, mode: Mode): Reviewer | null {
  if (mode === "without") return null;
  const choices = mode === "reject" ? [scenario.rejects] : scenario.corrects;
  const hint = mode === "reject" ? "reject it, and allow no other attempt" : scenario.hint;
  return isOn(context, "yes") ? scripted(context, choices) : atTerminal(context, hint);
}

type DemoStores = {
  readonly store: Stage["store"];
  readonly scratch: Stage["store"];
  readonly signal: AbortSignal;
};

async function playIn(
  context: Context,
  scenario: Scenario,
  mode: Mode,
  { store, signal }: DemoStores,
): Promise<Played> {
  const { terminal, json } = context;
  const say = (text: string) => (json ? undefined : bullet(terminal, text));
  return play({ store, scenario, reviewer: reviewerOf(context, scenario, mode), say, signal });
}

/** The same agent without supervision, played silently: the baseline for the others. */
async function playWithout(scenario: Scenario, { scratch, signal }: DemoStores): Promise<Outcome> {
  const { result } = await play({ store: scratch, scenario, reviewer: null, say: () => {}, signal });
  if (result.status === "failed") throw new Error(result.reason);
  return result.result;
}

async function playOne(context: Context, scenario: Scenario, mode: Mode, place: DemoStores): Promise<number> {
  const { terminal } = context;
  const without = await playWithout(scenario, place);
  if (!context.json) printBeginning(terminal, scenario, mode);
  const played = await playIn(context, scenario, mode, place);
  const { workflow, result, entries, report } = played;
  if (context.json) {
    const outcome = result.status === "completed" ? result.result : null;
    const saved = outcome === null || mode === "without" ? null : savedUsd(outcome, without);
    const { ok, counts, total } = report;
    const verified = { ok, entries: counts.entries, findings: total };
    terminal.json({
      demo: scenario.name,
      mode,
      workflow,
      result,
      savedUsd: saved,
      verified,
      story: readStory(entries),
    });
  } else {
    printEnd(terminal, scenario, played, without);
    printStory(terminal, played);
  }
  return report.ok ? EXIT.ok : EXIT.refused;
}

async function playAll(context: Context, place: DemoStores): Promise<number> {
  const { terminal } = context;
  const rows: Row[] = [];
  let isVerified = true;
  for (const scenario of SCENARIOS) {
    const without = await playWithout(scenario, place);
    if (!context.json) printBeginning(terminal, scenario, "with");
    const played = await playIn(context, scenario, "with", place);
    const { result, report } = played;
    if (!context.json) printEnd(terminal, scenario, played, without);
    isVerified &&= report.ok;
    rows.push({ title: scenario.title, without, with: result.status === "completed" ? result.result : null });
  }
  if (context.json) terminal.json({ demos: rows, total: totalOf(rows), verified: isVerified });
  else {
    printTotal(terminal, rows);
    const style = isVerified ? "green" : "red";
    terminal.line(`  ${terminal.paint(style, isVerified ? "Every journal was verified." : "Not verified.")}`);
  }
  return isVerified ? EXIT.ok : EXIT.refused;
}

function printNext(context: Context): void {
  if (context.json) return;
  const folder = flag(context, "data");
  const kept = folder === undefined ? "--database …" : `--data ${visible(folder)}`;
  const isNamed = folder !== undefined || context.values.has("database");
  context.terminal.line();
  context.terminal.line(
    isNamed
      ? `  Look closer: npx holdpoint workflows ${kept}`
      : "  The journal was in a temporary folder. Add --data <folder> to keep it.",
  );
}

/** Uses its own folder by default: a demo never writes into the store of a project by itself. */
async function onStage(context: Context, run: (place: DemoStores) => Promise<number>): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-demo-"));
  const over = new AbortController();
  const leave = () => over.abort();
  process.once("SIGINT", leave);
  try {
    const isNamed = context.values.has("data") || context.values.has("database");
    const keyFile = join(folder, "key.json");
    const store = isNamed ? locateStore(context.values).where : { folder: join(folder, "store"), keyFile };
    const scratch = { folder: join(folder, "scratch"), keyFile };
    const code = await run({ store, scratch, signal: over.signal });
    printNext(context);
    return code;
  } catch (error) {
    if (error instanceof PersonLeft || over.signal.aborted) return EXIT.interrupted;
    throw error;
  } finally {
    process.removeListener("SIGINT", leave);
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function playDemo(context: Context): Promise<number> {
  if (word(context) === "refund") return playRefund(context);
  checkOwnFlags(context);
  const mode = modeOf(context);
  checkPerson(context, mode);
  const scenario = SCENARIOS.find(({ name }) => name === word(context));
  return onStage(context, (place) =>
    scenario === undefined ? playAll(context, place) : playOne(context, scenario, mode, place),
  );
}
