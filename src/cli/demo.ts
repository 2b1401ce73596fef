/** `holdpoint demo`: an agent's mistake, unsupervised, caught, or rejected for good. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Command, type Context, EXIT, flag, isOn, word } from "./command.ts";
import { askPerson, Left } from "./demos/ask.ts";
import { deploy } from "./demos/deploy.ts";
import { legal } from "./demos/legal.ts";
import { pizza } from "./demos/pizza.ts";
import { type Played, play, type Reviewer, type Stage } from "./demos/play.ts";
import { type Choice, type Scenario, usd } from "./demos/scenario.ts";
import { choiceText, paragraph, rule, showQuestion } from "./demos/show-question.ts";
import { storyOf } from "./demos/story.ts";
import { printTotal, totalOf } from "./demos/total.ts";
import { trade } from "./demos/trade.ts";
import { CommandError } from "./failure.ts";
import { placeOf } from "./open-store.ts";
import { printTable } from "./table.ts";

const SCENARIOS: readonly Scenario[] = [pizza, trade, deploy, legal];
const MODES = ["without", "with", "reject"] as const;
type Mode = (typeof MODES)[number];

function modeOf(context: Context): Mode {
  const given = MODES.filter((mode) => isOn(context, mode));
  const all = word(context) === "all" && given.length > 0;
  if (given.length > 1 || all)
    throw new CommandError(
      "usage",
      all ? "`demo all` plays every demo without and with." : "Choose one of --without, --with and --reject.",
      "Try: holdpoint demo --help",
    );
  return given[0] ?? "with";
}

/** Nobody is there to be asked: not at the keyboard, or not at the screen. */
function checkPerson(context: Context, mode: Mode): void {
  const isAsked = mode !== "without" && !isOn(context, "yes");
  const isThere = process.stdin.isTTY === true && context.terminal.interactive && !context.json;
  if (!isAsked || isThere) return;
  throw new CommandError(
    "usage",
    `demo ${word(context)} asks a person, and there is none at this terminal.`,
    "Add --yes to let it play the person's part too.",
  );
}

function scripted(context: Context, choices: readonly Choice[]): Reviewer {
  const left = [...choices];
  return {
    by: "person:ann",
    async decide(question) {
      const choice = left.shift() ?? { kind: "approve", note: "" };
      if (context.json) return choice;
      showQuestion(context.terminal, question);
      paragraph(context.terminal, `Ann (played by --yes) decides: ${choiceText(choice)}`);
      context.terminal.line();
      return choice;
    },
  };
}

function atTerminal(context: Context, hint: string): Reviewer {
  const { terminal, person } = context;
  let isFirst = true;
  return {
    by: person,
    async decide(question) {
      showQuestion(terminal, question);
      if (isFirst) paragraph(terminal, `You are the reviewer. In this story: ${hint}.`);
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
  const hint = mode === "reject" ? "reject it, and say no to another attempt" : scenario.hint;
  return isOn(context, "yes") ? scripted(context, choices) : atTerminal(context, hint);
}

const HEADINGS: { readonly [mode in Mode]: string } = {
  without: "nobody is asked",
  with: "a person is asked",
  reject: "a person says no",
};

function printEnd(context: Context, scenario: Scenario, { result }: Played, before: number | null): void {
  const { terminal } = context;
  terminal.line();
  if (result.status === "failed") {
    terminal.line(terminal.paint("yellow", `  FAILED, as it was told to: ${result.reason}`));
    paragraph(terminal, "What the agent had done is undone, and nothing was spent.");
    return;
  }
  const { costUsd, told } = result.result;
  const cost = costUsd === null ? "" : ` Cost: ${usd(costUsd)}.`;
  const saved = before === null || costUsd === null || costUsd >= before ? 0 : before - costUsd;
  const bad = saved === 0 && costUsd !== 0 && result.result.told === scenario.told.without;
  terminal.line(terminal.paint(bad ? "red" : "green", `  COMPLETED: ${told}.${cost}`));
  if (bad) paragraph(terminal, scenario.mistake);
  if (saved > 0 && before !== null)
    terminal.line(terminal.paint("bold", `  ${usd(saved)} saved: without a person it was ${usd(before)}.`));
}
