/** The kill switch of the tenant, of one agent or service, and of one workflow. */
import { queryOptions } from "@tanstack/react-query";
import type { AnswerOf, InputOf } from "holdpoint/client";
import { client } from "./client.ts";

export type SwitchState = AnswerOf<"GET /api/kill-switch">;
/** Whose: everybody's of the tenant where nobody is named. */
export type Whose = InputOf<"GET /api/kill-switch">;

/** By whom, when and why. */
export type StopFacts = Extract<SwitchState, { readonly paused: true }>;
export type Stop = AnswerOf<"GET /api/kill-switch/pauses">["pauses"][number];

export const switchQuery = queryOptions({
  queryKey: ["switch", "tenant"],
  queryFn: () => client.killSwitch.paused(),
});

export const switchOfQuery = (whose: Whose) =>
  queryOptions({ queryKey: ["switch", "one", whose], queryFn: () => client.killSwitch.paused(whose) });

const MOST = 1_000;

async function allStops(): Promise<readonly Stop[]> {
  const found: Stop[] = [];
  for (let cursor: string | undefined; ; ) {
    const { pauses, next_cursor } = await client.killSwitch.pauses({ limit: MOST, cursor });
    found.push(...pauses);
    if (next_cursor === null) return found;
    cursor = next_cursor;
  }
}

/** All of them: whoever is not among them is not stopped. */
export const stopsQuery = queryOptions({ queryKey: ["switch", "stops"], queryFn: allStops });
