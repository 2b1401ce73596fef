/** The server in a process of its own, and whoever asks it in this one. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { inSequences, type OpenSystem, type Place, type System, timed } from "../system.ts";
import { type Connection, openConnection } from "./load.ts";

/** What a server says when it listens. */
export type Listening = {
  readonly port: number;
  readonly durability: string;
  /** A header with its line end, or nothing. */
  readonly headers: string;
};
export type Ask = {
  readonly program: string;
  readonly path: string;
  readonly status: number;
  bodyOf(number: number): string;
};

/** A folder for what the processor was busy with, as Node writes it when the server ends. */
const PROFILES = process.env["BENCH_PROFILES"];
const PROFILING = PROFILES === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${PROFILES}`];

async function startServer(program: string, place: Place) {
  const child = fork(join(import.meta.dirname, program), [JSON.stringify(place)], { execArgv: PROFILING });
  const failed = once(child, "exit").then(() => {
    throw new Error(`${program} ended before it listened`);
  });
  const [listening] = (await Promise.race([once(child, "message"), failed])) as [Listening];
  failed.catch(() => undefined);
  const close = async () => {
    const gone = once(child, "exit");
    child.disconnect();
    await gone;
  };
  return { pid: child.pid ?? 0, listening, close };
}

/** Every connection is one sequence. */
function loadWith(ask: Ask, { port, headers }: Listening): System["run"] {
  let sent = 0;
  return async (load) => {
    const opening = Array.from({ length: load.inFlight }, () => openConnection(port, headers));
    const connections = await Promise.all(opening);
    const propose = async (connection: Connection) => {
      const { status, body } = await connection.post(ask.path, ask.bodyOf(++sent));
      if (status !== ask.status) throw new Error(`answered ${status}: ${body}`);
    };
    try {
      await inSequences(load, (number) => timed(load, () => propose(connections[number] as Connection)));
    } finally {
      for (const connection of connections) connection.close();
    }
  };
}

export const openServer =
  (ask: Ask): OpenSystem =>
  async (place) => {
    const { pid, listening, close } = await startServer(ask.program, place);
    const { durability } = listening;
    const database = place.database === null ? [] : [place.database.pid];
    return { servers: [pid, ...database], durability, run: loadWith(ask, listening), close };
  };
