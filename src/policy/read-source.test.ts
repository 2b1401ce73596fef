import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isHoldpointError } from "../kernel/errors.ts";
import { openPolicySource } from "./read.ts";

describe("a policy's file", () => {
  it("that is a module is not read as YAML: the error says to import it and pass the document", () => {
    for (const file of ["p.ts", "policies/p.mjs", "p.cts", "p.js"])
      assert.throws(
        () => openPolicySource(file),
        (error) =>
          isHoldpointError(error, "policy_invalid") &&
          /is a module.*import it in the program and pass its default export/.test(error.message),
        file,
      );
  });
});
