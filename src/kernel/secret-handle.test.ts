import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Json } from "./json.ts";
import { hasMovedHandle } from "./stored-value.ts";

const token = { $secret: "env:TOKEN" };
const other = { $secret: "env:OTHER" };
const asked: Json = { to: "ops", token, more: { key: other, list: ["a", token] } };

describe("a handle stays where it stood", () => {
  const stays: readonly (readonly [string, Json])[] = [
    ["nothing of it is written", { to: "all" }],
    ["it is written again in its place", { token, more: { key: other, list: ["b", token] } }],
    ["it is taken away", { token: "none", more: {} }],
  ];
  for (const [title, edit] of stays) test(title, () => assert.equal(hasMovedHandle(edit, asked), false));

  const moves: readonly (readonly [string, Json])[] = [
    ["to another field", { to: token }],
    ["to a field that was not there", { cc: token }],
    ["in the place of another one", { token: other }],
    ["deeper, in its own field", { token: { inside: token } }],
    ["to another place of its list", { more: { list: [token, "a"] } }],
    ["to the place of the whole", token],
    ["to a field that every object has", { constructor: token }],
  ];
  for (const [title, edit] of moves)
    test(`it is not moved ${title}`, () => assert.equal(hasMovedHandle(edit, asked), true));

  test("one that the program made itself may stand anywhere", () =>
    assert.equal(
      hasMovedHandle({ to: token }, asked, (handle) => handle === token),
      false,
    ));
});
