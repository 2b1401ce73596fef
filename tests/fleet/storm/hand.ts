/** What every lane of a client works with: servers, keys, chance, and a log of what it was told. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Json, JsonObject } from "../../../src/kernel/json.ts";
import type { Receiver } from "../../crash/receiver.ts";
import type { Random } from "../../simulator/random.ts";
import { ask, type Reply } from "./ask.ts";
import type { Line } from "./told.ts";

export type ClientSetup = {
  readonly name: string;
  readonly seed: number;
  /** Its numbers are those after this one: no two clients have the same. */
  readonly first: number;
  readonly servers: readonly string[];
  readonly agentKey: string;
  /** By name. */
  readonly people: Readonly<Record<string, string>>;
  readonly receiver: number;
  readonly log: string;
  readonly lanes: number;
  readonly pauseMs: number;
};

export type Hand = {
  readonly setup: ClientSetup;
  readonly random: Random;
  readonly receiver: Receiver;
  readonly isOver: () => boolean;
  say(line: Line): void;
  /** A number of its own for each thing that is asked. */
  next(): number;
};

type Sending = { readonly path: string; readonly body?: JsonObject; readonly key?: string };

const TRIES = 12;
const PAUSE_MS = 250;
const MOST_PAUSE_MS = 2_000;

/** At any server, and at any other again until somebody says something certain. */
export async function insist(hand: Hand, { path, body = {}, key }: Sending): Promise<Reply> {
  const { setup, random } = hand;
  for (let tries = 1; ; tries++) {
    const server = random.pick(setup.servers);
    const reply = await ask({ server, key: key ?? setup.agentKey, method: "POST", path, body });
    if (reply.said !== "unknown" || tries >= TRIES) return reply;
    await sleep(random.between(0, Math.min(MOST_PAUSE_MS, PAUSE_MS * tries)));
  }
}

export async function look(hand: Hand, path: string, key?: string): Promise<Reply> {
  const { setup, random } = hand;
  const server = random.pick(setup.servers);
  return ask({ server, key: key ?? setup.agentKey, method: "GET", path });
}

export const textAt = (body: JsonObject, name: string): string | null => {
  const value = body[name] as Json | undefined;
  return typeof value === "string" ? value : null;
};

const PLACES = {
  action: { path: "actions", field: "phase" },
  approval: { path: "approvals", field: "status" },
  workflow: { path: "workflows", field: "status" },
} as const;

type Known = { readonly of: keyof typeof PLACES; readonly id: string; readonly known: string };

/** Whoever asks after an acknowledgement has to see at least that, at whichever server. */
export async function readBack(hand: Hand, { of, id, known }: Known): Promise<void> {
  const { path, field } = PLACES[of];
  const { said, body } = await look(hand, `/api/${path}/${encodeURIComponent(id)}`);
  if (said === "unknown") return;
  const status = said === "yes" ? textAt(body, field) : "none";
  if (status !== null) hand.say({ kind: "read", of, id, known, status, at: Date.now() });
}
