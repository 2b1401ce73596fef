/** Entries of the log as rules see them: with the tool, the agent and the workflow that they are about. */

import type { Sighting } from "../../core/monitor/rules.ts";
import { frozenJson } from "../../kernel/canonical-json.ts";
import { isHoldpointError } from "../../kernel/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../../kernel/json.ts";
import { findStreamRef, type StreamRef } from "../../kernel/stream.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { loadValue } from "../../runtime/store-access.ts";
import type { JournalEntry } from "../../stores/store.ts";
import { openSnapshot } from "../../workflows/snapshots.ts";

type Place = Pick<Runtime, "store" | "tenant">;
type About = Pick<Sighting, "tool" | "agent" | "workflow">;
type Header = { readonly stream: string; readonly type: string; readonly at: number };

/** Which streams are about what does not change: what is forgotten is read again from their first entry. */
const MOST_KNOWN = 10_000;
const NOTHING: About = { tool: null, agent: null, workflow: null };
/** What monitors say themselves, and what only carries other entries outside. */
const OWN: readonly string[] = ["alert", "message", "monitor", "notifier"];

export type Sights = { of(entry: JournalEntry): Promise<Sighting | undefined> };

const textOf = (value: Json | undefined): string | null => (typeof value === "string" ? value : null);

/** What is missing or damaged is found by whoever verifies; here it says nothing. */
async function ifWhole<Value>(value: Promise<Value>): Promise<Value | null> {
  try {
    return await value;
  } catch (error) {
    if (isHoldpointError(error, "store_corrupt")) return null;
    throw error;
  }
}

function resultIn({ type }: Header, body: JsonObject): Json {
  if (type === "step.completed") return body["result"] ?? null;
  const answer = type === "call.settled" ? body["answer"] : null;
  return isJsonObject(answer) && answer["executed"] === true ? (answer["result"] ?? null) : null;
}

function snapshotHash({ type }: Header, body: JsonObject): string | null {
  const snapshot = type.startsWith("checkpoint.") ? body["snapshot"] : undefined;
  return isJsonObject(snapshot) ? textOf(snapshot["hash"]) : null;
}

/** The newest from now on. */
function keepIn(known: Map<string, About>, name: string, about: About): About {
  known.delete(name);
  known.set(name, about);
  const [oldest] = known.size > MOST_KNOWN ? known.keys() : [];
  if (oldest !== undefined) known.delete(oldest);
  return about;
}

/** `values`: results and snapshots are loaded too, which only some rules look at. */
export function createSights(place: Place, values: boolean): Sights {
  const known = new Map<string, About>();
  const keep = (name: string, about: About) => keepIn(known, name, about);

  async function aboutWorkflow(id: string): Promise<About> {
    return aboutStream({ kind: "workflow", id }, `workflow/${id}`);
  }

  async function aboutAction(body: JsonObject): Promise<About> {
    const { within } = body;
    const id = isJsonObject(within) ? textOf(within["workflow"]) : null;
    const { workflow } = id === null ? NOTHING : await aboutWorkflow(id);
    return { tool: textOf(body["tool"]), agent: textOf(body["agent"]), workflow };
  }

  /** Of a stream, by its first entry. */
  async function firstSays(ref: StreamRef, { at }: Header, body: JsonObject): Promise<About> {
    if (ref.kind === "action") return aboutAction(body);
    const workflow = { id: ref.id, name: textOf(body["name"]) ?? "", createdAt: at };
    return { tool: null, agent: textOf(body["agent"]), workflow };
  }

  async function aboutStream(ref: StreamRef, name: string): Promise<About> {
    const found = known.get(name);
    if (found !== undefined) return keep(name, found);
    const [first] = await place.store.read(place.tenant, ref, { limit: 1 });
    if (first?.body == null) return NOTHING;
    const header = JSON.parse(first.header) as Header;
    return keep(name, await firstSays(ref, header, JSON.parse(first.body) as JsonObject));
  }

  async function aboutEntry(ref: StreamRef, header: Header, body: JsonObject): Promise<About> {
    if (ref.kind !== "action" && ref.kind !== "workflow") return NOTHING;
    const isFirst = header.type === "action.proposed" || header.type === "workflow.created";
    if (isFirst) return keep(header.stream, await firstSays(ref, header, body));
    const about = await aboutStream(ref, header.stream);
    return header.type === "call.made" ? { ...about, tool: textOf(body["tool"]) } : about;
  }

  return {
    async of({ header: text, body: kept, position }) {
      const header = JSON.parse(text) as Header;
      const ref = findStreamRef(header.stream);
      if (kept === null || ref === undefined || OWN.includes(ref.kind)) return undefined;
      const body = frozenJson(JSON.parse(kept)) as JsonObject;
      const about = await aboutEntry(ref, header, body);
      const result = values ? await ifWhole(loadValue(place, resultIn(header, body))) : null;
      const hash = values ? snapshotHash(header, body) : null;
      const snapshot = hash === null ? null : await ifWhole(openSnapshot(place, hash));
      const { stream, type, at } = header;
      return { position, at, stream, type, body, ...about, result, snapshot };
    },
  };
}
