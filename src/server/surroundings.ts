/** What an approval is asked in and with: its workflow, and what the agent gave for people to look at. */

import type { Approval } from "../approvals/decide.ts";
import { isHoldpointError } from "../core/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import { actionStream } from "../core/stream.ts";
import { openSnapshot } from "../engine/capture.ts";
import { unlessLeftAlone } from "../engine/left-alone.ts";
import { readState } from "../engine/read-state.ts";
import type { Runtime } from "../engine/runtime.ts";

type Place = Pick<Runtime, "store" | "tenant">;

/** What is asked about. For a checkpoint or a question `id` is the workflow's, and for an intent the intent's. */
export type Subject = { readonly about: string; readonly id: string };

/** The workflow in which it is asked; an action's own state says whether it is in one. */
export async function workflowAsking(place: Place, { about, id }: Subject): Promise<string | null> {
  if (about !== "action") return about === "intent" ? null : id;
  // What a newer server wrote about the action keeps nobody from seeing that something waits.
  const state = await unlessLeftAlone(readState(place, actionStream(id)));
  return state === undefined || state.phase === "none" ? null : (state.within?.workflow ?? null);
}

function workflowOf(place: Place, { subject, action }: Approval): Promise<string | null> {
  return workflowAsking(place, { about: subject?.kind ?? "action", id: action });
}

const objectOf = (value: Json): JsonObject => {
  if (isJsonObject(value)) return value;
  return value === null ? {} : { value };
};

/** A checkpoint's `context` if the agent gave one; of anything else, and without one, what stands for approval. */
async function contextOf(place: Place, { subject, schema, args }: Approval): Promise<JsonObject> {
  if (subject?.kind !== "checkpoint") return objectOf(args);
  // A snapshot that was erased, or is broken, keeps nobody from seeing that something waits.
  const snapshot = await openSnapshot(place, schema).catch((error: unknown) => {
    if (isHoldpointError(error)) return {} as JsonObject;
    throw error;
  });
  const shown = snapshot["approval_interface"];
  const context = isJsonObject(shown) ? shown["context"] : undefined;
  return isJsonObject(context) ? context : objectOf(args);
}

export type Surroundings = { readonly workflow: string | null; readonly context: JsonObject };

export async function surroundingsOf(place: Place, approval: Approval): Promise<Surroundings> {
  return { workflow: await workflowOf(place, approval), context: await contextOf(place, approval) };
}
