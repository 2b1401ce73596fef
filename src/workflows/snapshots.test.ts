import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { canonicalJson, sha256 } from "../kernel/canonical-json.ts";
import { isHoldpointError } from "../kernel/errors.ts";
import type { Json, JsonObject } from "../kernel/json.ts";
import { createSecrets, secret } from "../runtime/secrets.ts";
import { createMemoryDatabase } from "../stores/memory/database.ts";
import { openMemoryStore } from "../stores/memory/open.ts";
import { FOLDS } from "../streams.ts";
import { buildSnapshot } from "./rules/snapshot.ts";
import { captureSnapshot, LARGEST_SNAPSHOT_BYTES, openSnapshot } from "./snapshots.ts";

const place = {
  snapshot: "snap_1",
  workflow: "wf_1",
  checkpoint: "cp_1",
  name: "Plan",
  at: 1_700_000_000_000,
};

/** A store and its secrets, with these environment variables. */
function runtime(environment: Readonly<Record<string, string>> = {}) {
  let drawn = 0;
  const random = (bytes: number) => new Uint8Array(bytes).fill(drawn++);
  const clock = { now: () => 0 };
  const store = openMemoryStore(createMemoryDatabase({ folds: FOLDS, projections: [], clock, random }));
  const key = async () => new Uint8Array(32);
  const secrets = createSecrets({
    store,
    tenant: "default",
    random,
    key,
    environment: (name) => environment[name],
  });
  return { store, tenant: "default", secrets };
}

const storedText = ({ artifact }: { readonly artifact: { readonly bytes: Uint8Array } }) =>
  gunzipSync(artifact.bytes).toString("utf8");

describe("a captured snapshot", () => {
  const snapshot = buildSnapshot({ outputs: { b: 1, a: "ü" }, confidence: 0.5 }, place);

  test("is its canonical JSON, compressed, under the hash of the compressed bytes", async () => {
    const captured = await captureSnapshot(runtime(), snapshot);
    const { artifact, ref } = captured;
    assert.equal(storedText(captured), canonicalJson(snapshot));
    assert.equal(artifact.hash, sha256(artifact.bytes));
    assert.deepEqual(ref, {
      uri: `x402://artifacts/sha256:${artifact.hash}`,
      hash: artifact.hash,
      bytes: Buffer.byteLength(canonicalJson(snapshot)),
      compressedBytes: artifact.bytes.length,
    });
  });

  test("has the same bytes whatever the order of its keys, and tells neither time nor system", async () => {
    const backwards = Object.fromEntries(Object.entries(snapshot).reverse());
    const [one, other] = [
      await captureSnapshot(runtime(), snapshot),
      await captureSnapshot(runtime(), backwards),
    ];
    assert.deepEqual(one.artifact, other.artifact);
    assert.equal(Buffer.from(one.artifact.bytes.subarray(0, 10)).toString("hex"), "1f8b08000000000000ff");
  });

  test("comes back from the store as it was", async () => {
    const here = runtime();
    const { artifact } = await captureSnapshot(here, snapshot);
    await here.store.transact("default", {}, () => ({
      kind: "commit",
      append: [],
      artifacts: [artifact],
      result: null,
    }));
    assert.deepEqual(await openSnapshot(here, artifact.hash), snapshot);
  });
});

describe("a secret", () => {
  const here = runtime({ API_KEY: "hunter2-and-more" });

  test("in a snapshot stays a handle, and its value is taken out wherever it stands", async () => {
    const snapshot = buildSnapshot(
      {
        memory: {
          token: secret("env:API_KEY"),
          currentContext: "sent hunter2-and-more",
          "hunter2-and-more": 1,
        },
        apiCalls: [{ endpoint: "/x?key=hunter2-and-more", response: ["aHVudGVyMi1hbmQtbW9yZQ=="] }],
        outputs: { header: "Bearer hunter2-and-more" },
        summary: "used hunter2-and-more",
        agent: "hunter2-and-more",
      },
      place,
    );
    const captured = await captureSnapshot(here, snapshot);
    const text = storedText(captured);
    assert.doesNotMatch(text, /hunter2|aHVudGVy/);
    assert.match(text, /"token":\{"\$secret":"env:API_KEY"\}/);
    assert.match(text, /"summary":"used \[secret env:API_KEY\]"/);
    assert.equal(canonicalJson(captured.snapshot), text);
  });

  test("whose handle is named beside the snapshot is taken out of it too", async () => {
    const { $secret } = await here.secrets.put("sec_01M7GF1H26000000000000000A", "correct horse");
    const snapshot = buildSnapshot({ trace: ["tried correct horse", "then hunter2-and-more"] }, place);
    const captured = await captureSnapshot(here, snapshot, [$secret, "env:API_KEY"]);
    assert.deepEqual(captured.snapshot["execution_state"], {
      decision_trace: [`tried [secret ${$secret}]`, "then [secret env:API_KEY]"],
    });
  });

  test("that opens nothing here stops nothing, such as a handle that a model has written", async () => {
    const snapshot = buildSnapshot({ memory: { said: { $secret: "env:NO_SUCH_VARIABLE" } } }, place);
    assert.deepEqual((await captureSnapshot(here, snapshot, ["env:NOR_THIS"])).snapshot, snapshot);
  });

  test("that occurs in ids, time or names of layers by chance does not maim them", async () => {
    const { timestamp } = buildSnapshot({}, place);
    for (const value of ["snap_1", String(timestamp), "task_state", "outputs", "checkpoint_name"]) {
      const snapshot = buildSnapshot({ outputs: { said: `it is ${value}` } }, place);
      const captured = await captureSnapshot(runtime({ ODD: value }), snapshot, ["env:ODD"]);
      assert.deepEqual(
        captured.snapshot,
        buildSnapshot({ outputs: { said: "it is [secret env:ODD]" } }, place),
      );
    }
  });

  test("whose store cannot be read stops the capture: what is not known cannot be taken out", async () => {
    const secrets = { ...here.secrets, resolve: async () => Promise.reject(new Error("no connection")) };
    await assert.rejects(captureSnapshot({ secrets }, buildSnapshot({}, place), ["env:X"]), /no connection/);
  });
});

describe("a snapshot's size", () => {
  /** A snapshot of exactly so many bytes. */
  function ofBytes(bytes: number): JsonObject {
    const rest = Buffer.byteLength(canonicalJson(buildSnapshot({ summary: "" }, place)));
    return buildSnapshot({ summary: "x".repeat(bytes - rest) }, place);
  }

  test("may be 8 MiB of JSON", async () => {
    const { ref } = await captureSnapshot(runtime(), ofBytes(LARGEST_SNAPSHOT_BYTES));
    assert.equal(ref.bytes, 8 * 1024 * 1024);
  });

  test("over that is refused with the size of each layer and what to do", async () => {
    const snapshot = buildSnapshot(
      { outputs: { rows: "é".repeat(3 * 1024 * 1024) }, summary: "rows" },
      place,
    );
    await assert.rejects(captureSnapshot(runtime(), snapshot), (error) => {
      assert.ok(isHoldpointError(error, "payload_too_large"));
      assert.equal(
        error.what,
        'The snapshot of "Plan" has 12.0 MiB of JSON (approval_interface 18 bytes, task_state 6.0 MiB, execution_state 6.0 MiB); at most 8.0 MiB are kept.',
      );
      assert.match(error.next, /capture a reference/);
      return true;
    });
    await assert.rejects(
      captureSnapshot(runtime(), ofBytes(LARGEST_SNAPSHOT_BYTES + 1)),
      /payload_too_large/,
    );
  });
});

describe("a stored snapshot", () => {
  const holding = (bytes: Uint8Array | undefined) => ({
    store: { artifact: async () => bytes },
    tenant: "default",
  });
  const packed = (text: string | Uint8Array) => gzipSync(text);
  const jsonOf = (value: Json) => packed(canonicalJson(value));

  test("that is missing is an error", async () => {
    await assert.rejects(openSnapshot(holding(undefined), "00"), (error) => {
      return isHoldpointError(error, "store_corrupt") && error.what.endsWith("sha256:00 is missing.");
    });
  });

  test("whose bytes were changed is an error", async () => {
    const bytes = jsonOf({ a: 1 });
    await assert.rejects(openSnapshot(holding(jsonOf({ a: 2 })), sha256(bytes)), (error) => {
      return isHoldpointError(error, "store_corrupt") && error.what.endsWith("is not what its name says.");
    });
  });

  const UNFIT: readonly (readonly [string, Uint8Array])[] = [
    ["is not compressed", Buffer.from("{}")],
    ["was cut", jsonOf({ a: 1 }).subarray(0, 15)],
    ["has a key twice", packed('{"a":1,"a":2}')],
    ["is not UTF-8", packed(Buffer.from('{"a":"\xff"}', "latin1"))],
    ["begins with a byte order mark", packed("\ufeff{}")],
    ["unpacks to more than a snapshot can be", packed(`{"a":"${" ".repeat(LARGEST_SNAPSHOT_BYTES)}"}`)],
    ["is not an object", jsonOf([])],
  ];
  for (const [what, bytes] of UNFIT)
    test(`that ${what} is an error, although its hash is right`, async () => {
      await assert.rejects(openSnapshot(holding(bytes), sha256(bytes)), (error) =>
        isHoldpointError(error, "store_corrupt"),
      );
    });
});
