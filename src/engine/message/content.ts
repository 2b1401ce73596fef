/** What a message says: read from the entries that it is about, every time it is sent. */

import { isJsonObject, type JsonObject } from "../../core/json.ts";
import { type Said, sayingOf } from "../../core/message/announced.ts";
import type { LiveMessage } from "../../core/message/message-state.ts";
import { type StreamRef, streamRef } from "../../core/stream.ts";
import type { Runtime } from "../runtime.ts";

type Place = Pick<Runtime, "store" | "tenant">;

export type Content = Said & {
  readonly type: string;
  /** When it happened. */
  readonly at: number;
  readonly ref: StreamRef;
};

type Entry = { readonly at: number; readonly body: JsonObject };

async function entryOf({ store, tenant }: Place, ref: StreamRef, seq: number): Promise<Entry | undefined> {
  const [found] = await store.read(tenant, ref, { fromSeq: seq, limit: 1 });
  if (found?.body == null) return undefined;
  const body: unknown = JSON.parse(found.body);
  const { at } = JSON.parse(found.header) as { readonly at: number };
  return isJsonObject(body) ? { at, body } : undefined;
}

/** Undefined when an entry that it is about was erased. */
export async function contentOf(
  place: Place,
  { type, source, madeAt }: Pick<LiveMessage, "type" | "source" | "madeAt">,
): Promise<Content | undefined> {
  const ref = streamRef(source.stream);
  const first = await entryOf(place, ref, 1);
  const told = source.seq === 1 ? first : await entryOf(place, ref, source.seq);
  if (first === undefined || told === undefined) return undefined;
  const said = sayingOf(type, ref, { first: first.body, body: told.body });
  const at = type === "endpoint.tested" ? madeAt : told.at;
  return said === undefined ? undefined : { ...said, type, at, ref };
}

const PAGES: { readonly [kind: string]: string } = {
  action: "actions",
  alert: "alerts",
  approval: "approvals",
  workflow: "workflows",
};

/** Opens a page. Nothing is ever decided by following it. */
export function linkTo(publicUrl: string | null, { kind, id }: StreamRef): string | null {
  const page = PAGES[kind];
  return publicUrl === null || page === undefined ? null : `${publicUrl}/${page}/${encodeURIComponent(id)}`;
}
