import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import { until } from "../../../tests/fixtures/until.ts";
import type { Client } from "./connect.ts";
import { createCommitListener } from "./notify.ts";

/** Connections to a server that says goodbye when the test lets it. */
function farServer() {
  const made: {
    readonly client: Client;
    readonly goodbye: () => void;
    isParting: boolean;
    isOpen: boolean;
  }[] = [];
  const connect = async () => {
    const over = Promise.withResolvers<void>();
    const events = new EventEmitter();
    const one = {
      client: undefined as unknown as Client,
      goodbye: over.resolve,
      isParting: false,
      isOpen: true,
    };
    const end = async () => {
      one.isParting = true;
      await over.promise;
      one.isOpen = false;
      events.emit("end");
    };
    const calls = { query: async () => ({ rows: [] }), ref: () => {}, unref: () => {}, end };
    const stream = { setTimeout: () => {} };
    one.client = Object.assign(events, calls, { connection: { stream } }) as unknown as Client;
    made.push(one);
    return { client: one.client, free: () => {} };
  };
  return { made, connect };
}

test("a listening connection that ends when there is another one already takes nothing from that", {
  timeout: 60_000,
}, async () => {
  const { made, connect } = farServer();
  const channel = { name: "x", lock: { high: 1, low: 1 } };
  const listener = createCommitListener({ connect, channel, heard: () => {} });
  listener.start();
  await until(() => made[0], "a connection");
  listener.rest();
  await until(() => made[0]?.isParting || undefined, "the parting");
  listener.start();
  await until(() => made[1], "another connection");
  made[0]?.goodbye();
  await until(() => (made[0]?.isOpen ? undefined : true), "the end of the first");
  made[1]?.goodbye();
  await listener.close();
  assert.deepEqual(
    made.map(({ isOpen }) => isOpen),
    [false, false],
  );
});
