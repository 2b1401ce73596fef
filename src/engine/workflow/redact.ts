/** What a definition says, without the values of the secrets that it has handed to its calls. */

import { HoldpointError } from "../../kernel/errors.ts";
import type { Json, JsonObject } from "../../kernel/json.ts";
import type { NewEvent } from "../../kernel/stream.ts";
import { errorText } from "../../kernel/text.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { handlesIn, hasNoSecrets, redactJson, redactText } from "../../runtime/secrets.ts";
import { valuesOf } from "../capture.ts";

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

/** Cut after the secrets were taken out, or it could leave half of one. */
export async function errorWithoutSecrets(run: Speaker, error: unknown): Promise<string> {
  if (run.handles.size === 0) return errorText(error);
  const known = await valuesOf(run.runtime.secrets, run.handles);
  return errorText(error, (text) => redactText(text, known));
}

/** Where the text would be something else than what it stands for, it is not taken at all. */
export async function refuseSecrets(run: Speaker, what: string, value: Json): Promise<void> {
  if (run.handles.size === 0) return;
  if (hasNoSecrets(value, await valuesOf(run.runtime.secrets, run.handles))) return;
  throw new HoldpointError("secret_transformed", `A secret's value stands in ${what} in clear.`);
}

const MOST_CHARACTERS = 10_000;

type Log = { readonly op: string; readonly text: string; readonly data: Json };

/**
 * Logs are written at once, as they are; what is known to be a secret by the time they are recorded is taken out then, and
 * only then they are cut: half a secret would stay.
 */
export async function logsWithoutSecrets(
  run: Speaker,
  events: readonly NewEvent[],
): Promise<readonly NewEvent[]> {
  if (!events.some(({ type }) => type === "log.written")) return events;
  const known = await valuesOf(run.runtime.secrets, run.handles);
  return events.map((event) => {
    if (event.type !== "log.written") return event;
    const { op, text, data } = event.body as Log;
    const cut = redactText(text, known).slice(0, MOST_CHARACTERS).toWellFormed();
    const body: JsonObject = { op, text: cut, data: redactJson(data, known) };
    return { ...event, body };
  });
}
