import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  asking,
  firstNote,
  type Heard,
  hear,
  isToBeRelieved,
  NOTHING_HEARD,
  type Note,
  standing,
  touching,
} from "./one-stream.ts";

const live = standing(firstNote("a"), "live");
const touched = touching(live, ["approvals"]);
const after = (...notes: readonly Note[]): Heard =>
  notes.reduce((heard, note) => hear(heard, note).heard, NOTHING_HEARD);

describe("what a tab makes of what the holder of the stream tells", () => {
  test("what was touched is stale, and nothing else", () => {
    assert.deepEqual(hear(after(live), touched).stale, ["approvals"]);
    const next = touching(touched, ["switch"]);
    assert.deepEqual(hear(after(live, touched), next).stale, ["switch"]);
    assert.deepEqual(hear(after(live, touched), standing(touched, "live")).stale, []);
  });

  test("the first time that it hears of a stream, everything is stale: nobody knows what came before", () => {
    assert.equal(hear(NOTHING_HEARD, live).stale, "everything");
    assert.equal(hear(NOTHING_HEARD, touched).stale, "everything");
  });

  test("a note that was missed makes everything stale, whatever the next one is about", () => {
    const second = touching(touched, ["switch"]);
    assert.equal(hear(after(live), second).stale, "everything");
    assert.equal(hear(after(live), standing(second, "live")).stale, "everything");
  });

  test("without a connection nothing is live and nothing is asked; with the next one everything is", () => {
    const lost = standing(live, "lost");
    assert.deepEqual(hear(after(live), lost).stale, []);
    assert.equal(after(live, lost).connection, "lost");
    assert.equal(hear(after(live, lost), live).stale, "everything");
  });

  test("another holder's stream goes on from nothing: everything is stale", () => {
    assert.equal(hear(after(live), standing(firstNote("b"), "live")).stale, "everything");
  });
});

describe("a holder is relieved by whoever looks", () => {
  test("when it does not answer", () => {
    assert.equal(isToBeRelieved(after(live)), false);
    assert.equal(isToBeRelieved(asking(after(live))), true);
    assert.equal(isToBeRelieved(hear(asking(after(live)), live).heard), false);
  });

  test("when it has no connection and nobody looks at it; one that somebody looks at gets its own back", () => {
    const lost = standing(live, "lost");
    assert.equal(isToBeRelieved(after({ ...lost, isHidden: true })), true);
    assert.equal(isToBeRelieved(after(lost)), false);
    assert.equal(isToBeRelieved(after({ ...live, isHidden: true })), false);
  });
});
