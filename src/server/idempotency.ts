/** `Idempotency-Key` of a POST: the same key and body are worked on once. */
import type { FastifyRequest } from "fastify";
import { answerOnce, type Once, type Worked } from "../engine/answer-once.ts";
import { digestOf } from "../kernel/canonical-json.ts";
import { HoldpointError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import type { Who } from "./authenticate.ts";
import { asHoldpointError, PROBLEM_TYPE, problemOf } from "./problem.ts";
import type { Answer, Route } from "./route.ts";
import type { Office } from "./tenants.ts";

const KEY = /^[\x21-\x7e](?:[\x20-\x7e]{0,198}[\x21-\x7e])?$/;

/** The key of a request whose answer is to be kept; undefined where there is none. */
export function keyOf(request: FastifyRequest, { method, whenLost }: Route): string | undefined {
  const key = request.headers["idempotency-key"];
  if (key === undefined || method !== "POST" || whenLost === "none") return undefined;
  if (typeof key !== "string" || !KEY.test(key))
    throw new HoldpointError("invalid_input", "An Idempotency-Key has 1 to 200 printable ASCII characters.");
  return key;
}

/** What failed for now is tried again under the same key; what nobody knows only where that does no harm. */
function isKept({ code, retryable, status }: HoldpointError, whenLost: Once["whenLost"]): boolean {
  const isUnknown = code === "commit_unknown" || code === "unexpected";
  if (isUnknown) return whenLost === "say";
  // A server that is closing says nothing about the request: the next one works on it.
  const isLater = code === "closed" || code === "epoch_ended" || code === "store_restored";
  return !retryable && !isLater && status < 500;
}

const bodyOf = (answer: Answer): Json => ("body" in answer ? (answer.body as Json) : null);

export type OnceParts = {
  readonly request: FastifyRequest;
  readonly route: Route;
  readonly who: Who;
  readonly office: Office;
  readonly attempt: string;
};

/** Problems are kept too: they are the answer that the first request got. */
async function worked(handle: () => Promise<Answer>, parts: OnceParts, whenLost: Once["whenLost"]) {
  const { request } = parts;
  try {
    const answer = await handle();
    const body = JSON.parse(JSON.stringify(bodyOf(answer) ?? null)) as Json;
    return { answer: { status: answer.status, body }, keep: true } satisfies Worked;
  } catch (error) {
    const ours = asHoldpointError(error);
    const [instance = "/"] = request.url.split("?");
    const problem = problemOf(ours, { instance, requestId: request.id });
    const body = JSON.parse(JSON.stringify(problem)) as Json;
    return { answer: { status: ours.status, body }, keep: isKept(ours, whenLost), error } satisfies Worked & {
      error: unknown;
    };
  }
}

export type Handling = {
  readonly handle: () => Promise<Answer>;
  /** Of an answer that was kept: what it is by now, where that may be another. */
  readonly again?: (kept: Json) => Promise<Answer | undefined>;
};

export async function handleOnce(
  key: string,
  parts: OnceParts,
  { handle, again: lookAgain }: Handling,
): Promise<Answer> {
  const { request, route, who, office } = parts;
  const whenLost = route.whenLost === "repeat" ? "repeat" : "say";
  const once: Once = {
    key,
    by: who.principal ?? "unauthenticated",
    route: `${request.method} ${request.url}`,
    digest: digestOf((request.body ?? null) as Json),
    whenLost,
  };
  let thrown: unknown;
  const { status, body, again } = await answerOnce(office.runtime, once, parts.attempt, async () => {
    const done = await worked(handle, parts, whenLost);
    if ("error" in done) thrown = done.error;
    return done;
  });
  if (thrown !== undefined) throw thrown;
  const now = again && status < 400 ? await lookAgain?.(body) : undefined;
  if (now !== undefined) return now;
  const replayed = again ? { "idempotency-replayed": "true" } : {};
  const type = status >= 400 ? { "content-type": PROBLEM_TYPE } : {};
  return { status, body, headers: { ...replayed, ...type } };
}
