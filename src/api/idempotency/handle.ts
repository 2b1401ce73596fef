/** `Idempotency-Key` of a POST: the same key and body are processed once; a retry gets the first answer. */

import type { FastifyRequest } from "fastify";
import { digestOf, sha256 } from "../../kernel/canonical-json.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import { answerStream } from "../../kernel/stream.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { loadValue, runCommand } from "../../runtime/store-access.ts";
import type { Who } from "../authenticate.ts";
import { asHoldpointError, PROBLEM_TYPE, problemOf, type Route, type RouteAnswer } from "../route.ts";
import type { TenantHost } from "../tenant-hosts.ts";
import { type BeginAnswerResult, type BeginCommand, beginAnswer, endAnswer } from "./rules.ts";

type IdempotentRequest = {
  readonly key: string;
  readonly by: string;
  readonly route: string;
  readonly digest: string;
  /** If the process that began it died: repeat the work, or answer that the outcome is unknown. */
  readonly whenLost: "repeat" | "say";
};

type KeptAnswer = { readonly status: number; readonly body: Json };
/** Result of the work; `keep: false` frees the key. */
type WorkResult = { readonly answer: KeptAnswer; readonly keep: boolean };

const POLL_MS = 1_000;
const MOST_WAIT_MS = 30_000;

const answerStreamName = ({ by, key }: IdempotentRequest): string => sha256(Buffer.from(`${by}\n${key}`));

/** The error does not repeat the key: some callers derive theirs from confidential data. */
function conflict(): HoldpointError {
  return new HoldpointError("idempotency_conflict", "This Idempotency-Key was used for another request.");
}

type AnswerContext = Extract<BeginAnswerResult, { kind: "under_way" }>;

/** Returns the attempt to take over; null if its process is alive, to check again later. */
async function lostAttempt(
  runtime: Runtime,
  { epoch, attempt }: AnswerContext,
  once: IdempotentRequest,
): Promise<string | null> {
  if (await runtime.store.epochHeld(epoch)) return null;
  if (once.whenLost === "repeat") return attempt;
  throw new HoldpointError("answer_unknown", "The request under this Idempotency-Key was lost.");
}

function tooLong(): HoldpointError {
  return new HoldpointError(
    "store_busy",
    "The first request under this Idempotency-Key is still worked on.",
    {
      data: "Nothing more was begun.",
      next: "Send the same request again to get its answer.",
      details: { retry_after: 5 },
    },
  );
}

async function beginRequest(
  runtime: Runtime,
  command: BeginCommand,
  once: IdempotentRequest,
): Promise<KeptAnswer | "begun"> {
  const ref = answerStream(command.id);
  const watch = await runtime.waker.watch([ref]);
  let again: string | null = null;
  try {
    for (let waited = 0; waited < MOST_WAIT_MS; waited += POLL_MS) {
      const answer: BeginAnswerResult = await runCommand(runtime, { write: [ref] }, (draft) =>
        beginAnswer(draft, { ...command, again }),
      );
      if (answer.kind === "begun") return "begun";
      if (answer.kind === "given")
        return { status: answer.status, body: await loadValue(runtime, answer.body) };
      if (answer.kind === "conflict") throw conflict();
      again = await lostAttempt(runtime, answer, once);
      if (again === null) await watch.moved(POLL_MS);
    }
    throw tooLong();
  } finally {
    watch.close();
  }
}

/** `attempt`: a unique name. */
async function answerOnce(
  runtime: Runtime,
  once: IdempotentRequest,
  attempt: string,
  work: () => Promise<WorkResult>,
): Promise<KeptAnswer & { readonly again: boolean }> {
  const id = answerStreamName(once);
  const { id: epoch } = await runtime.epoch();
  const { route, digest, by } = once;
  const found = await beginRequest(runtime, { id, route, digest, by, epoch, attempt, again: null }, once);
  if (found !== "begun") return { ...found, again: true };
  const end = (answer: KeptAnswer | null) =>
    runCommand(runtime, { write: [answerStream(id)] }, (draft) => endAnswer(draft, { id, attempt, answer }));
  const { answer, keep } = await work();
  await end(keep ? answer : null);
  return { ...answer, again: false };
}

const KEY = /^[\x21-\x7e](?:[\x20-\x7e]{0,198}[\x21-\x7e])?$/;

/** The key of a request whose answer is to be kept; undefined if there is none. */
export function readIdempotencyKey(request: FastifyRequest, { method, whenLost }: Route): string | undefined {
  const key = request.headers["idempotency-key"];
  if (key === undefined || method !== "POST" || whenLost === "none") return undefined;
  if (typeof key !== "string" || !KEY.test(key))
    throw new HoldpointError("invalid_input", "An Idempotency-Key has 1 to 200 printable ASCII characters.");
  return key;
}

/** A temporary failure can be retried under the same key; an unknown outcome only where a repeat does no harm. */
function isKept(
  { code, retryable, status }: HoldpointError,
  whenLost: IdempotentRequest["whenLost"],
): boolean {
  const isUnknown = code === "commit_unknown" || code === "unexpected";
  if (isUnknown) return whenLost === "say";
  // A closing server says nothing about the request: the next one processes it.
  const isLater = code === "closed" || code === "epoch_ended" || code === "store_restored";
  return !retryable && !isLater && status < 500;
}

const bodyOf = (answer: RouteAnswer): Json => ("body" in answer ? (answer.body as Json) : null);

type IdempotencyParts = {
  readonly request: FastifyRequest;
  readonly route: Route;
  readonly who: Who;
  readonly office: TenantHost;
  readonly attempt: string;
};

/** Problems are kept too: they are the answer to the first request. */
async function worked(
  handle: () => Promise<RouteAnswer>,
  parts: IdempotencyParts,
  whenLost: IdempotentRequest["whenLost"],
) {
  const { request } = parts;
  try {
    const answer = await handle();
    const body = JSON.parse(JSON.stringify(bodyOf(answer) ?? null)) as Json;
    return { answer: { status: answer.status, body }, keep: true } satisfies WorkResult;
  } catch (error) {
    const ours = asHoldpointError(error);
    const [instance = "/"] = request.url.split("?");
    const problem = problemOf(ours, { instance, requestId: request.id });
    const body = JSON.parse(JSON.stringify(problem)) as Json;
    return {
      answer: { status: ours.status, body },
      keep: isKept(ours, whenLost),
      error,
    } satisfies WorkResult & {
      error: unknown;
    };
  }
}

type RequestHandling = {
  readonly handle: () => Promise<RouteAnswer>;
  /** Current version of a kept answer, if it may have changed since. */
  readonly again?: (kept: Json) => Promise<RouteAnswer | undefined>;
};

export async function handleIdempotently(
  key: string,
  parts: IdempotencyParts,
  { handle, again: lookAgain }: RequestHandling,
): Promise<RouteAnswer> {
  const { request, route, who, office } = parts;
  const whenLost = route.whenLost === "repeat" ? "repeat" : "say";
  const once: IdempotentRequest = {
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
