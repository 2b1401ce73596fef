/** The client processes of a run. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createLines } from "../../fixtures/lines.ts";
import type { ClientSetup } from "./hand.ts";

const PROGRAM = join(import.meta.dirname, "client.ts");

export type Client = {
  /** Nothing new is asked; resolves when what was asked has been answered, or given up. */
  stop(): Promise<void>;
  /** Decides no more, and ends. */
  end(): Promise<void>;
};

export async function startClient(setup: ClientSetup): Promise<Client> {
  const child: ChildProcess = spawn(process.execPath, ["--no-warnings", PROGRAM, JSON.stringify(setup)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const gone = once(child, "exit");
  const heard = createLines(child);
  await heard();
  return {
    async stop() {
      child.stdin?.write("stop\n");
      await heard();
    },
    async end() {
      child.stdin?.end();
      await gone;
    },
  };
}
