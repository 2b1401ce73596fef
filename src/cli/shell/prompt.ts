/** Questions to the person at the terminal: a line, or a secret without echo (else a line of standard input). */

import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { CommandError } from "./command.ts";

const MOST = 4_000;

const nothing = (cause?: unknown): CommandError =>
  new CommandError("usage", "Nothing was given.", "Type a key or a link, or pipe it in.", cause);

/** Discards the line editor's echo of typed text. */
const nowhere = () => new Writable({ write: (_chunk, _encoding, done) => done() });

async function readHidden(question: string): Promise<string> {
  process.stderr.write(question);
  const lines = createInterface({ input: process.stdin, output: nowhere(), terminal: true });
  const left = new AbortController();
  lines.once("SIGINT", () => lines.close());
  lines.once("close", () => left.abort());
  try {
    return await lines.question("", { signal: left.signal });
  } catch (error) {
    throw left.signal.aborted ? nothing(error) : error;
  } finally {
    lines.close();
    process.stderr.write("\n");
  }
}

/** The first line, terminated or not. */
async function readPiped(): Promise<string> {
  let text = "";
  for await (const chunk of process.stdin.setEncoding("utf8")) {
    text += String(chunk);
    if (text.includes("\n") || text.length > MOST) break;
  }
  return text.split("\n")[0] ?? "";
}

export async function askSecret(question: string): Promise<string> {
  const text = (await (process.stdin.isTTY === true ? readHidden(question) : readPiped())).trim();
  if (text === "" || text.length > MOST) throw nothing();
  return text;
}

/** The person left: with Ctrl-C, Ctrl-D, or by closing the terminal. */
export class PersonLeft extends Error {
  override readonly name = "Left";
}

export type Prompt = (text: string) => Promise<string>;

/** A new prompt for each question: nothing is read between questions. */
export async function prompt(text: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  const left = new AbortController();
  lines.once("SIGINT", () => lines.close());
  lines.once("close", () => left.abort());
  try {
    return (await lines.question(text, { signal: left.signal })).trim();
  } catch (error) {
    if (!left.signal.aborted) throw error;
    process.stdout.write("\n");
    throw new PersonLeft("no person is there to decide", { cause: error });
  } finally {
    lines.close();
  }
}
