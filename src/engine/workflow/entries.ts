/** A workflow's entries as they are replayed, a page at a time. */
import { HoldpointError } from "../../kernel/errors.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { workflowStream } from "../../kernel/stream.ts";

import type { Store } from "../../stores/store.ts";
import type { Entry } from "./recorded.ts";

const PAGE = 1_000;

type Header = { readonly type: string; readonly tv: number; readonly seq: number; readonly at: number };

function parse(id: string, text: string, body: string | null): Entry {
  const { type, tv, seq, at } = JSON.parse(text) as Header;
  if (tv !== 1)
    throw new HoldpointError("unknown_event", `The workflow ${id} met the event "${type}" version ${tv}.`);
  if (body === null) throw new HoldpointError("body_erased", `The body of entry ${seq} of ${id} is gone.`);
  return { type, seq, at, body: JSON.parse(body) as JsonObject };
}

type Place = { readonly store: Store; readonly tenant: string };

export async function entryAt({ store, tenant }: Place, id: string, seq: number): Promise<Entry | undefined> {
  const [found] = await store.read(tenant, workflowStream(id), { fromSeq: seq, limit: 1 });
  return found === undefined ? undefined : parse(id, found.header, found.body);
}

export async function* entriesOf({ store, tenant }: Place, id: string, from = 1): AsyncGenerator<Entry> {
  for (let fromSeq = from; ; fromSeq += PAGE) {
    const page = await store.read(tenant, workflowStream(id), { fromSeq, limit: PAGE });
    for (const { header, body } of page) yield parse(id, header, body);
    if (page.length < PAGE) return;
  }
}
