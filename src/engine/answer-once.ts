/** Works on a request once, however often it is sent under one key; whoever sends it again gets the first answer. */
import { type BeginAnswer, type BeginCommand, beginAnswer, endAnswer } from "../core/answer/answer-once.ts";
import { sha256 } from "../kernel/canonical-json.ts";
import { HoldpointError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { answerStream } from "../kernel/stream.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { loadValue, runCommand } from "../runtime/store-access.ts";

export type Once = {
  readonly key: string;
  readonly by: string;
  readonly route: string;
  readonly digest: string;
  /** When the process that began it died: do it again, or say that nobody knows. */
  readonly whenLost: "repeat" | "say";
};

export type Given = { readonly status: number; readonly body: Json };
/** What the work came to; `keep: false` leaves the key free. */
export type Worked = { readonly answer: Given; readonly keep: boolean };

const LOOK_MS = 1_000;
const PATIENCE_MS = 30_000;

const nameOf = ({ by, key }: Once): string => sha256(Buffer.from(`${by}\n${key}`));

/** A key is not said again: some make theirs from what nobody else should see. */
function conflict(): HoldpointError {
  return new HoldpointError("idempotency_conflict", "This Idempotency-Key was used for another request.");
}

type Under = Extract<BeginAnswer, { kind: "under_way" }>;

/** Answers the attempt to take over; null where it has moved, and is to be looked at again. */
async function lostAttempt(runtime: Runtime, { epoch, attempt }: Under, once: Once): Promise<string | null> {
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

async function begin(runtime: Runtime, command: BeginCommand, once: Once): Promise<Given | "begun"> {
  const ref = answerStream(command.id);
  const watch = await runtime.waker.watch([ref]);
  let again: string | null = null;
  try {
    for (let waited = 0; waited < PATIENCE_MS; waited += LOOK_MS) {
      const answer: BeginAnswer = await runCommand(runtime, { write: [ref] }, (draft) =>
        beginAnswer(draft, { ...command, again }),
      );
      if (answer.kind === "begun") return "begun";
      if (answer.kind === "given")
        return { status: answer.status, body: await loadValue(runtime, answer.body) };
      if (answer.kind === "conflict") throw conflict();
      again = await lostAttempt(runtime, answer, once);
      if (again === null) await watch.moved(LOOK_MS);
    }
    throw tooLong();
  } finally {
    watch.close();
  }
}

/** `attempt` is a name that nothing else has. */
export async function answerOnce(
  runtime: Runtime,
  once: Once,
  attempt: string,
  work: () => Promise<Worked>,
): Promise<Given & { readonly again: boolean }> {
  const id = nameOf(once);
  const { id: epoch } = await runtime.epoch();
  const { route, digest, by } = once;
  const found = await begin(runtime, { id, route, digest, by, epoch, attempt, again: null }, once);
  if (found !== "begun") return { ...found, again: true };
  const end = (answer: Given | null) =>
    runCommand(runtime, { write: [answerStream(id)] }, (draft) => endAnswer(draft, { id, attempt, answer }));
  const { answer, keep } = await work();
  await end(keep ? answer : null);
  return { ...answer, again: false };
}
