import assert from "node:assert/strict";
import { test } from "node:test";
import type { Holdpoint } from "../../src/index.ts";
import { serverBench } from "../fixtures/server.ts";

test("a moment that is none is refused, also of a workflow that exists", async (t) => {
  let id = "";
  const create = async (hp: Holdpoint) => {
    id = await hp.remote.workflows.create({ name: "Trip", checkpoints: ["Plan"], by: "agent:a" });
  };
  const bench = await serverBench(t, { define: create });
  const time = "2026-01-01T00:00:00Z";
  for (const verb of ["timeline", "at"])
    for (const moment of ["x", "x=5", "seq=x", "time=5", "seq=", `seq=1&time=${time}`])
      assert.equal(
        (await bench.ask(`/api/workflows/${id}/${verb}?${moment}`)).status,
        400,
        `${verb} ${moment}`,
      );
  assert.equal((await bench.ask(`/api/workflows/${id}/timeline?seq=1`)).status, 200);
});
