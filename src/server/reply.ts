/** Answers and problems, as they leave. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { HoldpointError } from "../kernel/errors.ts";
import { asHoldpointError, PROBLEM_TYPE, problemOf } from "./problem.ts";
import { type Answer, type Route, routeName } from "./route.ts";

/** Whether a route answers what it says it does. */
export function checkAnswer(route: Route, answer: Answer): void {
  const schema = route.answers[answer.status];
  if (answer.status >= 400) return;
  if (schema === undefined)
    throw new HoldpointError("broken_rule", `${routeName(route)} answers ${answer.status}, undeclared.`);
  if (typeof schema === "string" || !("body" in answer)) return;
  // As it will be read: without what JSON leaves out.
  const result = schema.safeParse(JSON.parse(JSON.stringify(answer.body)));
  if (!result.success)
    throw new HoldpointError("broken_rule", `${routeName(route)} answers otherwise than it says.`, {
      cause: result.error,
    });
}

type Outgoing = Exclude<Answer, { readonly body: unknown }>;
const JSON_TYPE = "application/json; charset=utf-8";

/** As text, where it is not taken over. */
export function outgoingOf(answer: Answer): Outgoing {
  if (!("body" in answer)) return answer;
  const { status, body, headers } = answer;
  return {
    status,
    text: JSON.stringify(body),
    type: headers?.["content-type"] ?? JSON_TYPE,
    headers: headers ?? {},
  };
}

export function bytesOf(answer: Outgoing): number {
  if ("bytes" in answer) return answer.bytes.byteLength;
  return "text" in answer ? Buffer.byteLength(answer.text) : 0;
}

export function send(reply: FastifyReply, answer: Outgoing): FastifyReply {
  if ("takeOver" in answer) {
    reply.hijack();
    answer.takeOver(reply);
    return reply;
  }
  reply.code(answer.status).headers(answer.headers ?? {});
  return reply.type(answer.type).send("bytes" in answer ? answer.bytes : answer.text);
}

export const wantsPage = ({ headers }: FastifyRequest): boolean =>
  /(^|,)\s*text\/html\s*(;|,|$)/.test(headers.accept ?? "");

export function sendProblem(request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply {
  const ours = asHoldpointError(error);
  const [instance = "/"] = request.url.split("?");
  const wait = ours.details["retry_after"];
  if (typeof wait === "number") reply.header("retry-after", String(wait));
  if (ours.code === "unauthenticated") reply.header("www-authenticate", 'Bearer realm="Holdpoint"');
  const problem = problemOf(ours, { instance, requestId: request.id });
  const page = request.routeOptions.config.holdpoint?.problem;
  if (page !== undefined && wantsPage(request)) return send(reply, outgoingOf(page(problem, request.url)));
  return reply.code(ours.status).type(PROBLEM_TYPE).send(JSON.stringify(problem));
}
