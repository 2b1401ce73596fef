/** Waiting for something to be over: a moment at a time, so that nothing is lost when either end is. */
import { z } from "zod";
import { loadCheckpointAccount } from "../../agents/remote-workflow.ts";
import { workflowOnWire, workflowSchema } from "../../agents/seed-wire.ts";
import { approvalOnWire, approvalSchema } from "../../approvals/routes.ts";
import { actionOnWire, actionSchema } from "../../effects/routes.ts";
import { waitForAction, waitForApproval, waitForWorkflow } from "../../engine/wait-until.ts";
import type { Audience } from "../events/audience.ts";
import { ok, route } from "../route.ts";

import { idParams } from "../wire.ts";

const MOST_HELD_SECONDS = 25;
const query = z.strictObject({ hold_seconds: z.coerce.number().min(0).max(MOST_HELD_SECONDS).default(0) });
const description = `At most ${MOST_HELD_SECONDS} seconds. While \`is_over\` is false it goes on: ask again.`;
const is_over = z.boolean();

type Place = Pick<Audience, "holds">;

const approvalWait = ({ holds }: Place) =>
  route({
    method: "GET",
    path: "/api/approvals/{id}/wait",
    summary: "An approval, once people have decided or their time is over; waits a moment for it",
    description,
    tag: "approvals",
    scope: "approvals:read",
    params: idParams,
    query,
    answers: { 200: z.object({ is_over, approval: approvalSchema }) },
    async handle(asked) {
      const {
        runtime,
        params,
        query: { hold_seconds },
      } = asked;
      const { isOver, state } = await holds.during(asked, hold_seconds, (hold) =>
        waitForApproval(runtime, params.id, hold),
      );
      return ok({ is_over: isOver, approval: await approvalOnWire({ runtime }, state) });
    },
  });

const actionWait = ({ holds }: Place) =>
  route({
    method: "GET",
    path: "/api/actions/{id}/wait",
    summary: "An action, once it has an outcome or was refused; waits a moment for it",
    description,
    tag: "actions",
    scope: "actions:read",
    params: idParams,
    query,
    answers: { 200: z.object({ is_over, action: actionSchema }) },
    async handle(asked) {
      const {
        runtime,
        params,
        query: { hold_seconds },
      } = asked;
      const { isOver, state } = await holds.during(asked, hold_seconds, (hold) =>
        waitForAction(runtime, params.id, hold),
      );
      return ok({ is_over: isOver, action: await actionOnWire(runtime, state) });
    },
  });

const workflowWait = ({ holds }: Place) =>
  route({
    method: "GET",
    path: "/api/workflows/{id}/wait",
    summary: "A workflow, once it has ended; waits a moment for it",
    description,
    tag: "workflows",
    scope: "workflows:read",
    params: idParams,
    query,
    answers: { 200: z.object({ is_over, workflow: workflowSchema }) },
    async handle(asked) {
      const {
        runtime,
        params,
        query: { hold_seconds },
      } = asked;
      const { isOver, state } = await holds.during(asked, hold_seconds, (hold) =>
        waitForWorkflow(runtime, params.id, hold),
      );
      return ok({
        is_over: isOver,
        workflow: workflowOnWire(state, await loadCheckpointAccount(runtime, state)),
      });
    },
  });

export const waitRoutes = (audience: Place) => [
  approvalWait(audience),
  actionWait(audience),
  workflowWait(audience),
];
