/** Invariant 8 entry by entry, and that no secret reaches the journal. */
import { createHash } from "node:crypto";
import type { Header } from "../../../journal/entry.ts";
import type { JsonObject } from "../../../kernel/json.ts";
import type { JournalEntry } from "../../../stores/store.ts";
import { CANARY, type Sim } from "../sim.ts";
import { type Event, expect, type SeenTenant } from "./seen.ts";

const FIRST = { seq: 0, hash: "0".repeat(64), at: 0 };

export function readEntry(sim: Sim, seen: SeenTenant, entry: JournalEntry): Event {
  const header = JSON.parse(entry.header) as Header;
  const { stream, seq, prev, at, type, tenant } = header;
  const before = seen.heads.get(stream) ?? FIRST;
  const hash = createHash("sha256").update(entry.header).digest("hex");
  const body = entry.body ?? "null";
  const digest = createHash("sha256")
    .update(Buffer.from(entry.salt ?? "", "hex"))
    .update(body)
    .digest("hex");
  const at8 = (holds: boolean, what: string) => expect({ sim }, holds, "8", `${stream} ${seq}: ${what}`);
  at8(seq === before.seq + 1 && prev === before.hash, "does not follow the entry before it");
  at8(hash === entry.hash, "has another hash");
  at8(digest === header.body, "has another body");
  at8(at >= before.at, "lies before the entry before it");
  expect({ sim }, tenant === seen.name, "13", `an entry of ${tenant} is in the journal of ${seen.name}`);
  expect({ sim }, !body.includes(CANARY), "14", `${stream} ${seq} (${type}) holds a secret`);
  seen.heads.set(stream, { seq, hash: entry.hash, at });
  const id = stream.slice(stream.indexOf("/") + 1);
  return { tenant, stream, id, type, at, seq, body: JSON.parse(body) as JsonObject };
}
