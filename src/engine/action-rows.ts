import type { ViewQuery, ViewRow } from "../stores/store.ts";
import type { Runtime } from "./runtime.ts";

/** The view that lists actions by phase; its rows name the tool, and the epoch of a running effect. */
const ACTIONS = "actions";
const PAGE = 200;

/** Every action in one phase, oldest first. `dueBy: null` leaves out what agents outside perform and report by a time. */
export async function actionRows(
  { store, tenant }: Pick<Runtime, "store" | "tenant">,
  phase: "open" | "waiting" | "running" | "in_doubt",
  only: Pick<ViewQuery, "dueBy"> = {},
): Promise<readonly ViewRow[]> {
  const rows: ViewRow[] = [];
  for (;;) {
    const last = rows.at(-1);
    const after = last === undefined ? {} : { after: { at: last.at, stream: `action/${last.stream.id}` } };
    const page = await store.query(tenant, { view: ACTIONS, bucket: phase, limit: PAGE, ...only, ...after });
    rows.push(...page);
    if (page.length < PAGE) return rows;
  }
}
