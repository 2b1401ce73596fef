import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import type { Frame, Hub, HubSubscriber } from "./hub.ts";
import { listenToJournal } from "./listeners.ts";

const frame = (position: number): Frame => ({
  ...{ position, kind: "action", workflow: null, type: "action.proposed", size: 1 },
  record: () => assert.fail("nobody asks for it"),
  text: () => `id: ${position}\n\n`,
});

/** A node that has read the journal up to a position. */
function nodeAt(position: number) {
  const ears: HubSubscriber[] = [];
  const hub: Hub = {
    position: () => position,
    join(ear) {
      ears.push(ear);
      return () => undefined;
    },
    recent: (after) => (after < position ? undefined : []),
    frame: () => assert.fail("nothing is read from the store"),
    begun: Promise.resolve(),
    close: () => undefined,
  };
  const reads = (...positions: readonly number[]) => {
    for (const ear of ears) ear(positions.map(frame));
  };
  return { hub, reads };
}

function connection() {
  const told: string[] = [];
  const response = Object.assign(new EventEmitter(), {
    ...{ destroyed: false, closed: false, writableEnded: false, writableLength: 0 },
    write: (text: string) => told.push(text),
  });
  return { told, response: response as unknown as ServerResponse };
}

test("whoever comes from a node that is ahead hears nothing twice, however this one reads on", () => {
  const { hub, reads } = nodeAt(98);
  const { told, response } = connection();
  const wish = { name: "all", wants: () => true };
  const listener = listenToJournal({ hub, place: {} as never, wish, response, after: 100 });
  told.length = 0;
  reads(99);
  listener.beat();
  reads(100);
  reads(101, 102);
  assert.deepEqual(told, [":\nid: 100\n\n", "id: 101\n\nid: 102\n\n"]);
});
