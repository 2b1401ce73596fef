/** What a rollback has to undo, in which order, as the raw events tell it. */
import type { SeenTenant } from "./seen.ts";
import type { SeenCall, SeenFlow } from "./seen-flow.ts";

const MOST_TRIES = 5;

/** Given up on: undone, not wanted by people or policy, or tried as often as it is tried. */
export function isDealtWith(seen: SeenTenant, undoes: string): boolean {
  const tries = seen.undos.get(undoes) ?? [];
  if (tries.some(({ status }) => status === "undone")) return true;
  if (tries.some(({ action }) => seen.actions.get(action)?.phase === "refused")) return true;
  return tries.filter(({ status }) => status === "not_undone").length >= MOST_TRIES;
}

function callsOfChild(seen: SeenTenant, id: string, scope: string): readonly SeenCall[] {
  const child = seen.flows.get(id);
  return child === undefined ? [] : callsAfter(seen, child, 0, scope);
}

/** Calls after an entry, oldest first; those of children stand where the child was spawned. */
export function callsAfter(
  seen: SeenTenant,
  flow: SeenFlow,
  after: number,
  scope: string,
): readonly SeenCall[] {
  const own = flow.calls.filter(({ rollback }) => scope === "all" || rollback);
  const placed = own.map((call) => ({ seq: call.seq, calls: [call] as readonly SeenCall[] }));
  for (const { kind, seq, body } of flow.opened.values())
    if (kind === "child") placed.push({ seq, calls: callsOfChild(seen, String(body["child"]), scope) });
  return placed
    .filter(({ seq }) => seq > after)
    .sort((a, b) => a.seq - b.seq)
    .flatMap(({ calls }) => calls);
}
