/** The rows of one guarded call with a request id, as long as those that Holdpoint writes, without their meaning. */
import { PAYLOAD } from "../system.ts";

export type Entry = {
  readonly seq: number;
  readonly header: string;
  readonly hash: Uint8Array;
  readonly salt: Uint8Array;
  readonly body: string;
};

const hash = new Uint8Array(32).fill(7);
const salt = new Uint8Array(16).fill(7);
const text = (length: number): string => PAYLOAD.repeat(Math.ceil(length / PAYLOAD.length)).slice(0, length);
const entry = (seq: number, header: number, body: number): Entry => ({
  seq,
  header: text(header),
  hash,
  salt,
  body: text(body),
});

/** Holdpoint's first commit: proposed, reviewed, started. Its second: applied. */
export const STARTING: readonly Entry[] = [entry(1, 282, 576), entry(2, 282, 141), entry(3, 281, 349)];
export const ENDING: readonly Entry[] = [entry(4, 281, 348)];
export const VIEW_RUNNING = text(480);
export const VIEW_APPLIED = text(470);

export const streamName = (n: number): string => `action/act_${String(n).padStart(26, "0")}`;
export const requestName = (n: number): string => `request:call-${String(n).padStart(12, "0")}`;
