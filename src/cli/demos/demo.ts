/** `holdpoint demo`: an agent's mistake with nobody to look, caught by a person, or rejected for good. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { visible } from "../../kernel/text.ts";
import { type Context, EXIT, flag, isOn, REFUND_FLAGS, word } from "../shell/command.ts";
import { CommandError } from "../shell/failure.ts";
import { locateStore } from "../shell/files.ts";
import { PersonLeft } from "../shell/prompt.ts";
import { readStory } from "../workflows/story.ts";
import { askPerson } from "./ask.ts";

import { deploy } from "./deploy.ts";
import { legal } from "./legal.ts";
import { pizza } from "./pizza.ts";
import { type Played, play, type Reviewer, type Stage } from "./play.ts";
import { type Mode, printBeginning, printEnd, printStory, savedUsd } from "./present.ts";
import { playRefund } from "./refund.ts";

import type { Choice, Outcome, Scenario } from "./scenario.ts";
import { bullet, choiceText, paragraph, showQuestion } from "./show-question.ts";
import { printTotal, type Row, totalOf } from "./total.ts";
import { trade } from "./trade.ts";

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

/** Before anything is played: somebody has to be there, at the keyboard and at the screen. */
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

type Place = {
  readonly store: Stage["store"];
  readonly scratch: Stage["store"];
  readonly signal: AbortSignal;
};

async function playIn(
  context: Context,
  scenario: Scenario,
  mode: Mode,
  { store, signal }: Place,
): Promise<Played> {
  const { terminal, json } = context;
  const say = (text: string) => (json ? undefined : bullet(terminal, text));
  return play({ store, scenario, reviewer: reviewerOf(context, scenario, mode), say, signal });
}

/** The same agent with nobody to look, played where nobody sees it: what the others are measured against. */
async function playWithout(scenario: Scenario, { scratch, signal }: Place): Promise<Outcome> {
  const { result } = await play({ store: scratch, scenario, reviewer: null, say: () => {}, signal });
  if (result.status === "failed") throw new Error(result.reason);
  return result.result;
}

async function playOne(context: Context, scenario: Scenario, mode: Mode, place: Place): Promise<number> {
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

async function playAll(context: Context, place: Place): Promise<number> {
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

/** Its own folder, unless one is named: a demo never writes into the store of a project by itself. */
async function onStage(context: Context, run: (place: Place) => Promise<number>): Promise<number> {
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
