/** The kill switch of the tenant, of one agent or service, and of one workflow. */
import { queryOptions } from "@tanstack/react-query";
import type { AnswerOf, InputOf } from "holdpoint/client";
import { client } from "./client.ts";

export type SwitchState = AnswerOf<"GET /api/kill-switch">;
/** Whose: everybody's of the tenant where nobody is named. */
export type Whose = InputOf<"GET /api/kill-switch">;

export const switchQuery = queryOptions({
  queryKey: ["switch", "tenant"],
  queryFn: () => client.killSwitch.get(),
});

export const switchOfQuery = (whose: Whose) =>
  queryOptions({ queryKey: ["switch", "one", whose], queryFn: () => client.killSwitch.get(whose) });
