/** Compares the rows of every list with what the entries fold into: none is missing, none is left over. */
import assert from "node:assert/strict";
import type { StreamRef } from "../../src/kernel/stream.ts";
import { parseStreamRef } from "../../src/kernel/stream.ts";
import { emptyHead, foldEntry, type Head } from "../../src/stores/head.ts";
import type { JournalEntry, Store } from "../../src/stores/store.ts";
import { projectionTable } from "../../src/stores/views.ts";
import { FOLDS } from "../../src/streams.ts";
import { PROJECTIONS } from "../fixtures/runtime.ts";

const PAGE = 1_000;
const nameOf = ({ kind, id }: StreamRef): string => `${kind}/${id}`;

async function* entriesOf(store: Store, tenant: string): AsyncGenerator<JournalEntry> {
  for (let after = 0; ; ) {
    const page = await store.log(tenant, after, PAGE);
    yield* page;
    if (page.length < PAGE) return;
    after = page.at(-1)?.position ?? after;
  }
}

async function headsOf(store: Store, tenant: string): Promise<ReadonlyMap<string, Head>> {
  const heads = new Map<string, Head>();
  for await (const entry of entriesOf(store, tenant)) {
    const { stream } = JSON.parse(entry.header) as { readonly stream: string };
    const { kind } = parseStreamRef(stream);
    heads.set(stream, foldEntry(FOLDS, kind, heads.get(stream) ?? emptyHead(FOLDS, kind), entry));
  }
  return heads;
}

/** A large value, or the captured state of a checkpoint. */
const ARTIFACT = /"(?:\$artifact":"sha256:|snapshot":\{[^{}]*"hash":")([0-9a-f]{64})"/g;

/** Every artifact that an entry refers to is there, also one that nothing is carried on with. */
export async function checkArtifacts(store: Store, tenant: string): Promise<void> {
  for await (const { body } of entriesOf(store, tenant))
    for (const [, hash = ""] of (body ?? "").matchAll(ARTIFACT))
      assert.notEqual(await store.artifact(tenant, hash), undefined, `the artifact ${hash}`);
}

async function rowsOf(store: Store, tenant: string, view: string): Promise<ReadonlyMap<string, object>> {
  const rows = new Map<string, object>();
  for (let after = {}; ; ) {
    const page = await store.query(tenant, { view, limit: PAGE, ...after });
    for (const { stream, ...row } of page) rows.set(nameOf(stream), row);
    const last = page.at(-1);
    if (page.length < PAGE || last === undefined) return rows;
    after = { after: { at: last.at, stream: nameOf(last.stream) } };
  }
}

/** Answers the kinds of streams and the views that have anything. */
export async function checkLists(store: Store, tenant: string): Promise<ReadonlySet<string>> {
  const heads = await headsOf(store, tenant);
  const found = new Set([...heads.keys()].map((stream) => parseStreamRef(stream).kind as string));
  for (const { view, kind, row } of projectionTable(PROJECTIONS).all) {
    const expected = new Map<string, object>();
    for (const [stream, { state }] of heads) {
      const { kind: own, id } = parseStreamRef(stream);
      const shown = own === kind ? row(id, state) : undefined;
      if (shown !== undefined) expected.set(stream, shown);
    }
    assert.deepEqual(await rowsOf(store, tenant, view), expected, `the rows of ${view}`);
    if (expected.size > 0) found.add(`view ${view}`);
  }
  return found;
}

/** Also when the lists are built again. */
export async function checkRebuiltLists(store: Store): Promise<void> {
  const tenants = await store.tenants();
  for (const tenant of tenants) await checkLists(store, tenant);
  assert.equal((await store.rebuildViews()).left, 0);
  for (const tenant of tenants) await checkLists(store, tenant);
}
