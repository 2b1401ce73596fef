/** A program of a newer version, as far as a store sees one: it knows an event more, newer versions, and a kind of stream more. */

import { wallClock } from "../../src/kernel/clock.ts";
import { actionStream, type Fold, type RecordedEvent, type StreamRef } from "../../src/kernel/stream.ts";
import { pooledRandom } from "../../src/runtime/runtime.ts";
import type { Folds } from "../../src/states.ts";
import { openPostgresStore } from "../../src/stores/postgres/open.ts";
import { openSqliteStore } from "../../src/stores/sqlite/open.ts";
import type { Store } from "../../src/stores/store.ts";
import { FOLDS, PROJECTIONS } from "../../src/streams.ts";

const NEW_TYPE = "stream.annotated";

/** Newer versions say the same in other words; the new event changes nothing. */
function newer(fold: Fold<unknown>): Fold<unknown> {
  const evolve = (state: unknown, event: RecordedEvent) =>
    event.type === NEW_TYPE ? state : fold.evolve(state, { ...event, tv: 1 });
  return { ...fold, version: fold.version + 1, evolve };
}

const COUNTS: Fold<unknown> = { version: 1, initial: 0, evolve: (count) => Number(count) + 1 };

const folds = {
  ...Object.fromEntries(Object.entries(FOLDS).map(([kind, fold]) => [kind, newer(fold as Fold<unknown>)])),
  case: COUNTS,
} as unknown as Folds;

type Where = { readonly folder: string } | { readonly database: string; readonly schema: string };

export function openNewer(where: Where): Promise<Store> {
  const common = { folds, projections: PROJECTIONS, random: pooledRandom() };
  return "folder" in where
    ? openSqliteStore({ ...where, ...common, clock: wallClock })
    : openPostgresStore({ ...where, ...common });
}

/** Writes something to a stream that only a newer program knows. */
export async function annotate(
  store: Store,
  stream: StreamRef,
  { type = NEW_TYPE, tv = 1, tenant = "default" } = {},
): Promise<void> {
  await store.transact(tenant, { write: [stream] }, () => ({
    kind: "commit",
    append: [{ stream, events: [{ type, tv, body: { note: "from the future" } }] }],
    result: undefined,
  }));
}

/** A stream of a kind that only a newer program knows. */
export const caseStream = (id: string): StreamRef => ({ ...actionStream(id), kind: "case" as "action" });
