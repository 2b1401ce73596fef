/** What there is to run, as the view of runs has it: of the definitions that are known here, and of no others. */

import { bucketOf } from "../../core/workflow/runs-bucket.ts";
import { streamName } from "../../kernel/stream.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import type { ViewRow } from "../../stores/store.ts";
import type { Definition } from "./definition.ts";

const RUNS = "runs";
const PAGE = 200;

type Desk = {
  readonly runtime: Pick<Runtime, "store" | "tenant">;
  readonly definitions: ReadonlyMap<string, Definition>;
  /** Of workflows that were asked for here with a definition of their own. */
  readonly chosen: ReadonlyMap<string, Definition>;
};
type Where = "ready" | "asleep" | "held" | "stuck";
type Due = { readonly dueBy?: number };

/** One page of each definition. */
export async function rowsOf(desk: Desk, where: Where, dueBy?: number): Promise<readonly ViewRow[]> {
  const { store, tenant } = desk.runtime;
  const due = dueBy === undefined ? {} : { dueBy };
  const rows: ViewRow[] = [];
  for (const name of desk.definitions.keys()) {
    const query = { view: RUNS, bucket: bucketOf(where, { name }), order: "oldest", limit: PAGE } as const;
    rows.push(...(await store.query(tenant, { ...query, ...due })));
  }
  for await (const row of chosenRows(desk, where, due)) rows.push(row);
  return rows;
}

/** All pages of them: those that nobody here has asked for may be any number, and stay where they are. */
async function* chosenRows(desk: Desk, where: Where, due: Due = {}): AsyncGenerator<ViewRow> {
  const names = new Set([...desk.chosen.values()].map(({ name }) => name));
  for (const name of names)
    for await (const row of rowsIn(desk, bucketOf(where, { name, isOfOneRun: true }), due))
      if (desk.chosen.has(row.stream.id)) yield row;
}

export async function* rowsIn(desk: Desk, bucket: string, due: Due = {}): AsyncGenerator<ViewRow> {
  const { store, tenant } = desk.runtime;
  let after: { at: number; stream: string } | undefined;
  do {
    const query = { view: RUNS, bucket, order: "oldest", limit: PAGE, ...due } as const;
    const page = await store.query(tenant, after === undefined ? query : { ...query, after });
    yield* page;
    const last = page.length < PAGE ? undefined : page.at(-1);
    after = last === undefined ? undefined : { at: last.at, stream: streamName(last.stream) };
  } while (after !== undefined);
}

/** All pages of all of them. */
export async function* allRows(desk: Desk, where: Where): AsyncGenerator<ViewRow> {
  for (const name of desk.definitions.keys()) yield* rowsIn(desk, bucketOf(where, { name }));
  yield* chosenRows(desk, where);
}
