/** What a definition says, without the values of the secrets that it has handed to its calls. */
import type { Json } from "../../core/json.ts";
import { valuesOf } from "../capture.ts";
import { handlesIn, redactJson, redactText } from "../secrets.ts";
import type { Run } from "./run.ts";

export function noteSecrets(run: Run, args: Json): void {
  for (const handle of handlesIn(args)) run.handles.add(handle);
}

export async function withoutSecrets(run: Run, value: Json): Promise<Json> {
  if (run.handles.size === 0) return value;
  return redactJson(value, await valuesOf(run.runtime.secrets, run.handles));
}

export async function textWithoutSecrets(run: Run, text: string): Promise<string> {
  if (run.handles.size === 0) return text;
  return redactText(text, await valuesOf(run.runtime.secrets, run.handles));
}
