/** Whether every view shows what the journal says. */
import { isDeepStrictEqual } from "node:util";
import type { StreamKind } from "../../../src/kernel/registry.ts";
import type { Store, ViewRow } from "../../../src/stores/store.ts";
import { PROJECTIONS } from "../../../src/streams.ts";
import type { Watch } from "./watch.ts";

const PAGE = 1_000;
const TENANT = "default";

type Row = Omit<ViewRow, "stream">;
type AnyProjection = {
  readonly view: string;
  readonly kind: StreamKind;
  row(id: string, state: never): Row | undefined;
};

async function rowsOf(store: Store, view: string): Promise<ReadonlyMap<string, Row>> {
  const rows = new Map<string, Row>();
  for (let after = {}; ; ) {
    const page = await store.query(TENANT, { view, limit: PAGE, ...after });
    for (const { stream, bucket, at, due, data } of page) rows.set(stream.id, { bucket, at, due, data });
    const last = page.at(-1);
    if (page.length < PAGE || last === undefined) return rows;
    after = { after: { at: last.at, stream: `${last.stream.kind}/${last.stream.id}` } };
  }
}

type Watched = Pick<Watch, "actions" | "approvals" | "workflows"> & Partial<Pick<Watch, "epochs">>;

function statesOf(watch: Watched, kind: AnyProjection["kind"]): ReadonlyMap<string, unknown> {
  if (kind === "workflow") return watch.workflows;
  if (kind === "action") return watch.actions;
  if (kind === "epoch") return watch.epochs ?? new Map();
  return kind === "approval" ? watch.approvals : new Map();
}

async function checkView(
  store: Store,
  projection: AnyProjection,
  watch: Watched,
): Promise<readonly string[]> {
  const { view, kind } = projection;
  const shown = await rowsOf(store, view);
  const wrong: string[] = [];
  let rows = 0;
  for (const [id, state] of statesOf(watch, kind)) {
    const expected = projection.row(id, state as never);
    if (expected !== undefined) rows++;
    if (!isDeepStrictEqual(shown.get(id), expected && JSON.parse(JSON.stringify(expected))))
      wrong.push(`${view}: ${id} is shown as ${JSON.stringify(shown.get(id))}`);
  }
  if (shown.size !== rows) wrong.push(`${view}: ${shown.size} rows for ${rows}`);
  return wrong.slice(0, 20);
}

const isUsual = (kind: StreamKind): boolean => kind !== "alert";

/** Of all kinds that the run has, and of those that it must not have. */
export async function checkEveryView(
  store: Store,
  watch: Watched,
  isWanted: (kind: StreamKind) => boolean = isUsual,
): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const projection of PROJECTIONS)
    if (isWanted(projection.kind)) wrong.push(...(await checkView(store, projection, watch)));
  return wrong;
}
