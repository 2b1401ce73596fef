/** Asks the person at the terminal: approve, modify or reject. */
import type { Json, JsonObject } from "../../kernel/json.ts";
import { type Prompt, prompt } from "../shell/prompt.ts";
import type { Terminal } from "../shell/terminal.ts";
import type { Question } from "./play.ts";
import type { Choice } from "./scenario.ts";

/** What was typed, as the same kind of value as before; undefined when it is none. */
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
