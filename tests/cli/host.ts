/**
 * The command line, line after line in one process: what `bin/holdpoint.mjs` does, without the start of a process each time.
 *
 * H1. A line has ended when nothing that it began keeps the process alive any more, as the end of a process says.
 */
import { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { main } from "../../src/cli/main.ts";

export type Line = {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** What time it is; it moves on by a millisecond at each reading. The machine's time where it is absent. */
  readonly now?: number;
  /** Standard output is a terminal of this width; a pipe where it is absent. */
  readonly columns?: number;
};
export type Said = { readonly code: number; readonly out: string; readonly err: string };

function capture(name: "stdout" | "stderr", columns?: number): () => string {
  const parts: Buffer[] = [];
  const stream = new Writable({
    write: (part: Buffer, _encoding, done) => {
      parts.push(part);
      done();
    },
  });
  if (columns !== undefined) Object.assign(stream, { isTTY: true, columns });
  Object.defineProperty(process, name, { configurable: true, get: () => stream });
  return () => Buffer.concat(parts).toString("utf8");
}

function live(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (!Object.hasOwn(env, name)) delete process.env[name];
  Object.assign(process.env, env);
}

const ROOT = process.cwd();
const [node = "", self = ""] = process.argv;

const held = (): number => process.getActiveResourcesInfo().length;

const wall = Date.now;

function setTime(now: number | undefined): void {
  let last = now ?? 0;
  const tick = (): number => {
    last += 1;
    return last;
  };
  Date.now = now === undefined ? wall : tick;
}

async function run({ args, cwd, env, now, columns }: Line): Promise<Said> {
  const before = held();
  const [out, err] = [capture("stdout", columns), capture("stderr")];
  setTime(now);
  live(env);
  process.chdir(cwd);
  process.argv = [node, self, ...args];
  const code = await main(args);
  while (held() > before) await sleep(1);
  process.chdir(ROOT);
  return { code, out: out(), err: err() };
}

process.on("message", (line: Line) => {
  void run(line).then((said) => process.send?.(said));
});
process.on("disconnect", () => process.exit());
