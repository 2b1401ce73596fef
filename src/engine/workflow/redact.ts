/** What a definition says, without the values of the secrets that it has handed to its calls. */
import type { NewEvent } from "../../core/event.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { valuesOf } from "../capture.ts";
import type { Runtime } from "../runtime.ts";
import { handlesIn, redactJson, redactText } from "../secrets.ts";

/** A run: the secrets that its definition has handed over so far. */
type Speaker = { readonly runtime: Pick<Runtime, "secrets">; readonly handles: Set<string> };

export function noteSecrets(run: Speaker, args: Json): void {
  for (const handle of handlesIn(args)) run.handles.add(handle);
}

export async function withoutSecrets(run: Speaker, value: Json): Promise<Json> {
  if (run.handles.size === 0) return value;
  return redactJson(value, await valuesOf(run.runtime.secrets, run.handles));
}

export async function textWithoutSecrets(run: Speaker, text: string): Promise<string> {
  if (run.handles.size === 0) return text;
  return redactText(text, await valuesOf(run.runtime.secrets, run.handles));
}

/** Logs are written at once, as they are; what is known to be a secret by the time they are recorded is taken out then. */
export async function logsWithoutSecrets(
  run: Speaker,
  events: readonly NewEvent[],
): Promise<readonly NewEvent[]> {
  if (run.handles.size === 0 || !events.some(({ type }) => type === "log.written")) return events;
  const known = await valuesOf(run.runtime.secrets, run.handles);
  return events.map((event) => {
    if (event.type !== "log.written") return event;
    const { op, text, data } = event.body as {
      readonly op: string;
      readonly text: string;
      readonly data: Json;
    };
    const body: JsonObject = { op, text: redactText(text, known), data: redactJson(data, known) };
    return { ...event, body };
  });
}
