/** Whether the server is there, and whether it can work. */
import { z } from "zod";
import { HoldpointError } from "../../kernel/errors.ts";
import { ok, publicRoute } from "../route.ts";

export type Condition = {
  readonly version: string;
  /** Asks the store; throws where it does not answer. */
  readonly ready: () => Promise<void>;
};

const health = z.object({
  status: z.literal("healthy"),
  service: z.literal("Holdpoint"),
  version: z.string(),
});

const silent = (cause: unknown): HoldpointError =>
  new HoldpointError("store_unavailable", "The store does not answer.", { cause });

export function healthRoutes({ version, ready }: Condition) {
  return [
    publicRoute({
      method: "GET",
      path: "/api/health",
      summary: "Whether the server is there",
      tag: "server",
      scope: "public",
      answers: { 200: health },
      handle: async () => ok({ status: "healthy", service: "Holdpoint", version }),
    }),
    publicRoute({
      method: "GET",
      path: "/api/ready",
      summary: "Whether the server can work: its store answers",
      tag: "server",
      scope: "public",
      answers: { 200: z.object({ status: z.literal("ready") }) },
      async handle() {
        try {
          await ready();
        } catch (error) {
          throw silent(error);
        }
        return ok({ status: "ready" });
      },
    }),
  ];
}
