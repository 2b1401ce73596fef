/** A file appears under its name only when it is whole; half of one is taken away again, also after Ctrl-C. */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import { EXIT } from "./command.ts";
import { fileError } from "./failure.ts";

function writeAll(descriptor: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
}

export async function writeWholeFile(file: string, chunks: AsyncIterable<string>): Promise<void> {
  const target = resolve(file);
  const part = `${target}.${process.pid}.part`;
  const remove = () => rmSync(part, { force: true });
  const interrupted = () => {
    remove();
    process.exit(EXIT.interrupted);
  };
  let descriptor: number | undefined;
  process.once("SIGINT", interrupted);
  try {
    descriptor = attempt(file, () => openSync(part, "wx", 0o600));
    const opened = descriptor;
    for await (const chunk of chunks) attempt(file, () => writeAll(opened, chunk));
    attempt(file, () => fsyncSync(opened));
    attempt(file, () => renameSync(part, target));
  } finally {
    process.removeListener("SIGINT", interrupted);
    if (descriptor !== undefined) closeSync(descriptor);
    remove();
  }
}

/** Faults of the file are told apart from those of the store that fills it. */
function attempt<Answer>(file: string, work: () => Answer): Answer {
  try {
    return work();
  } catch (error) {
    throw fileError(file, error);
  }
}
