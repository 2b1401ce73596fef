/**
 * The line between one node and its database, in the hands of whoever tests: held back, swallowed or cut, either way.
 *
 * P1. What is held back arrives later, in order. A line of which anything was swallowed never speaks again: no byte is
 *     left out of the middle of what a side hears.
 */
import { once } from "node:events";
import net from "node:net";
import type { Way } from "./plan.ts";

export type DatabaseLine = {
  readonly port: number;
  stall(way: Way | null): void;
  drop(way: Way | null): void;
  /** Cuts every line; new ones are refused until it is over. */
  cut(isCut: boolean): void;
  close(): void;
};

type Direction = Exclude<Way, "both">;
type Trouble = { stall: Way | null; drop: Way | null; isCut: boolean };
type Line = {
  readonly near: net.Socket;
  readonly far: net.Socket;
  readonly deaf: Set<Direction>;
  end(): void;
};

const holds = (way: Way | null, direction: Direction): boolean => way === "both" || way === direction;

function pass(line: Line, trouble: Trouble, direction: Direction): void {
  const [from, to] = direction === "up" ? [line.near, line.far] : [line.far, line.near];
  from.on("data", (chunk) => {
    if (holds(trouble.drop, direction)) line.deaf.add(direction);
    if (line.deaf.has(direction)) return;
    if (!to.write(chunk)) from.pause();
  });
  to.on("drain", () => {
    if (!holds(trouble.stall, direction)) from.resume();
  });
}

/** What arrives while it is held back waits in the system's own buffers. */
function holdBack({ near, far }: Line, { stall }: Trouble): void {
  for (const [direction, from] of [["up", near] as const, ["down", far] as const])
    if (holds(stall, direction)) from.pause();
    else from.resume();
}

function lineTo(target: number, near: net.Socket): Line {
  const far = net.connect(target, "127.0.0.1");
  const end = () => {
    near.destroy();
    far.destroy();
  };
  for (const socket of [near, far]) socket.setNoDelay(true).on("error", end).on("close", end);
  return { near, far, deaf: new Set(), end };
}

export async function startProxy(target: number): Promise<DatabaseLine> {
  const trouble: Trouble = { stall: null, drop: null, isCut: false };
  const lines = new Set<Line>();
  const server = net.createServer((near) => {
    if (trouble.isCut) {
      near.destroy();
      return;
    }
    const line = lineTo(target, near);
    lines.add(line);
    near.on("close", () => lines.delete(line));
    pass(line, trouble, "up");
    pass(line, trouble, "down");
    holdBack(line, trouble);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const endAll = () => {
    for (const line of [...lines]) line.end();
  };
  return {
    port: (server.address() as net.AddressInfo).port,
    stall(way) {
      trouble.stall = way;
      for (const line of lines) holdBack(line, trouble);
    },
    drop(way) {
      trouble.drop = way;
    },
    cut(isCut) {
      trouble.isCut = isCut;
      if (isCut) endAll();
    },
    close() {
      endAll();
      server.close();
    },
  };
}
