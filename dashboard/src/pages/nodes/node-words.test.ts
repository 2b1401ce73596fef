import assert from "node:assert/strict";
import { test } from "node:test";
import { hostsOf } from "./node-words.ts";

test("machines are told by the host before the process number, each once", () => {
  assert.deepEqual(hostsOf([{ process: "a/1" }, { process: "a/2" }, { process: "b/1" }]), ["a", "b"]);
});
