/** Workflows of a few tools that write down what they do and how it is undone. */
import type { WorkflowContext, WorkflowOptions } from "../../src/workflows/definition.ts";
import { ANN, type Desk, office } from "./office.ts";

export type Kit = ReturnType<typeof kit>;

/** Tools that write down what they do. */
export function kit(desk: Desk, done: string[]) {
  const made = (name: string, more: object = {}) =>
    desk.gate<{ n: number }, { n: number }>({
      name,
      policy: "approve",
      effect: "idempotent",
      run: ({ n }: { n: number }) => {
        done.push(`${name} ${n}`);
        return { n: n * 10 };
      },
      ...more,
    } as never);
  const undo = (args: { n: number }, result: { n: number }) =>
    void done.push(`undo ${args.n} of ${result.n}`);
  return {
    book: made("book", { undo }),
    gated: made("gated", { undo: { run: undo, policy: "escalate" } }),
    mail: made("mail"),
    tidy: made("tidy", { undo: "nothing" }),
    look: made("look", { effect: "read" }),
    asked: made("asked", { undo, policy: "escalate" }),
  };
}

export type Body = (ctx: WorkflowContext, tools: Kit) => Promise<unknown>;

export function flowOf(desk: Desk, done: string[], body: Body, options: WorkflowOptions<object> = {}) {
  const tools = kit(desk, done);
  return desk.workflow("w", options, (ctx, _: object) => body(ctx, tools));
}

export async function opened(body: Body, options: WorkflowOptions<object> = {}) {
  const place = office();
  const desk = place.open();
  const done: string[] = [];
  const flow = flowOf(desk, done, body, options);
  const { id } = await flow.start({});
  const end = () => place.finish(desk.workflows.result(id));
  const again = (attempt: number) =>
    place.until(async () => (await desk.workflows.get(id)).attempt >= attempt);
  return { place, desk, done, id, end, again };
}

export const reject = async (desk: Desk, id: string, reason = "not like this", more: object = {}) =>
  desk.approvals.reject(id, { ...ANN, reason, ...more });
