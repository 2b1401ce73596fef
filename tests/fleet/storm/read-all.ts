/** At rest, every server is asked for everything that clients were left unsure of, and for every approval: all say the same. */
import { ask } from "./ask.ts";
import { textAt } from "./hand.ts";
import type { Line, Read } from "./told.ts";
import type { Journal } from "./watch.ts";

type Place = { readonly servers: readonly string[]; readonly key: string };
type Wanted = Pick<Read, "of" | "id" | "known"> & { readonly path: string; readonly field: string };

const TRIES = 20;

/** Whatever the journal says of it, if it knows it at all. */
function wantedOf(told: readonly Line[], journal: Journal): readonly Wanted[] {
  const byRequest = new Map<string, string>();
  for (const state of journal.actions.values())
    if (state.phase !== "none" && state.requestId !== null && state.within === undefined)
      byRequest.set(state.requestId, state.phase);
  const unsure = told.flatMap((line) =>
    line.kind === "call" && line.said === "unknown" ? [line.requestId] : [],
  );
  const actions = [...new Set(unsure)].map((id): Wanted => {
    const known = byRequest.get(id) ?? "none";
    return { of: "action", id, known, path: `/api/actions/${encodeURIComponent(id)}`, field: "phase" };
  });
  const approvals = [...journal.approvals].map(([id, { status }]): Wanted => {
    return { of: "approval", id, known: status, path: `/api/approvals/${id}`, field: "status" };
  });
  return [...actions, ...approvals];
}

async function readAt(server: string, key: string, wanted: Wanted): Promise<Read> {
  const { of, id, known, path, field } = wanted;
  for (let tries = 1; ; tries++) {
    const { said, body } = await ask({ server, key, method: "GET", path });
    if (said === "unknown" && tries < TRIES) continue;
    const status = said === "no" ? "none" : (textAt(body, field) ?? "not answered");
    return { kind: "read", of, id, known, status, at: Date.now() };
  }
}

export async function readEverywhere(
  { servers, key }: Place,
  told: readonly Line[],
  journal: Journal,
): Promise<readonly Read[]> {
  const reads: Read[] = [];
  for (const wanted of wantedOf(told, journal))
    reads.push(...(await Promise.all(servers.map((server) => readAt(server, key, wanted)))));
  return reads;
}
