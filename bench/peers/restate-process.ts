/**
 * How Restate's server is started: so that it ends with us even if we are killed, and, where Linux lets an ordinary
 * user say so, unable to find api.github.com, which it asks for newer versions whatever its settings say.
 */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

export type Command = readonly [program: string, args: readonly string[]];

const works = (program: string, args: readonly string[]): boolean =>
  process.platform === "linux" && spawnSync(program, args, { stdio: "ignore" }).status === 0;

const HOSTS = "127.0.0.1 localhost api.github.com\n";
const HIDE = 'mount --bind "$0" /etc/hosts && exec "$@"';

export function serverCommand(program: string, args: readonly string[], folder: string): Command {
  const plain = [program, ...args];
  const bound = works("setpriv", ["--version"]) ? ["setpriv", "--pdeathsig", "KILL", "--", ...plain] : plain;
  const hosts = join(folder, "hosts");
  writeFileSync(hosts, HOSTS);
  // The namespace first: entering it would take the signal away again.
  const hides = works("unshare", ["-rm", "--", "sh", "-c", HIDE, hosts, "true"]);
  const [first = program, ...rest] = hides
    ? ["unshare", "-rm", "--", "sh", "-c", HIDE, hosts, ...bound]
    : bound;
  return [first, rest];
}
