/** Lines for `host.ts`: a few processes for all lines of a test file, gone with it. */
import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import type { Line, Said } from "./host.ts";

type Host = { readonly child: ChildProcess; isBusy: boolean };

const PROGRAM = join(import.meta.dirname, "host.ts");
/** Lines that run at the same time; others wait for their turn. */
const MOST = 3;
const hosts: Host[] = [];
const waiting: ((host: Host) => void)[] = [];

function begin(env: NodeJS.ProcessEnv): Host {
  const child = fork(PROGRAM, [], {
    env,
    execArgv: ["--disable-warning=ExperimentalWarning"],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const host = { child, isBusy: true };
  hosts.push(host);
  return host;
}

function hostFor({ env }: Line): Host | Promise<Host> {
  const idle = hosts.find(({ isBusy }) => !isBusy);
  if (idle === undefined && hosts.length < MOST) return begin(env);
  if (idle === undefined) return new Promise((resolve) => waiting.push(resolve));
  idle.isBusy = true;
  return idle;
}

function giveBack(host: Host): void {
  const next = waiting.shift();
  if (next !== undefined) {
    next(host);
    return;
  }
  host.isBusy = false;
  // A test file ends when nothing is left to do, and its hosts with it.
  host.child.unref();
  host.child.channel?.unref();
}

function ask({ child }: Host, line: Line): Promise<Said> {
  child.ref();
  child.channel?.ref();
  return new Promise((resolve, reject) => {
    const died = (code: number | null) =>
      reject(new Error(`The command line died with ${code} at: ${line.args.join(" ")}`));
    child.once("exit", died);
    child.once("message", (said) => {
      child.off("exit", died);
      resolve(said as Said);
    });
    child.send(line);
  });
}

export async function hosted(line: Line): Promise<Said> {
  const host = await hostFor(line);
  const said = await ask(host, line);
  giveBack(host);
  return said;
}
