import { eachRow } from "../runtime/lists.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { ViewQuery, ViewRow } from "../stores/store.ts";

/** The view that lists actions by phase; its rows name the tool, and the epoch of a running effect. */
const ACTIONS = "actions";

/** Every action in one phase, oldest first. `dueBy: null` leaves out what agents outside perform and report by a time. */
export async function actionRows(
  place: Pick<Runtime, "store" | "tenant">,
  phase: "open" | "waiting" | "running" | "in_doubt",
  only: Pick<ViewQuery, "dueBy"> = {},
): Promise<readonly ViewRow[]> {
  const rows: ViewRow[] = [];
  for await (const row of eachRow(place, { view: ACTIONS, bucket: phase, ...only })) rows.push(row);
  return rows;
}
