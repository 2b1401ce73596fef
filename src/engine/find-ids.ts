/** Ids by their beginning, for people who type them. */
import type { Runtime } from "./runtime.ts";

const PAGE = 1_000;
/** Enough to show that it was not unique, and which ones were meant. */
const MOST = 10;

/** Ids of a view's streams that begin with a text, oldest first. */
export async function findIds(
  place: Pick<Runtime, "store" | "tenant">,
  view: "approvals" | "actions",
  beginning: string,
): Promise<readonly string[]> {
  const found: string[] = [];
  let after: { at: number; stream: string } | undefined;
  for (;;) {
    const cursor = after === undefined ? {} : { after };
    const rows = await place.store.query(place.tenant, { view, limit: PAGE, ...cursor });
    found.push(...rows.map((row) => row.stream.id).filter((id) => id.startsWith(beginning)));
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE || found.length >= MOST) return found.slice(0, MOST);
    after = { at: last.at, stream: `${last.stream.kind}/${last.stream.id}` };
  }
}
