/** Workflows and the journal of a server. */

import type { AnswerOf } from "../../client/calls.ts";
import type { Report } from "../../journal/verify.ts";
import type { Library } from "../../kernel/contract.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import type { JournalVerbs } from "../../runtime/contract.ts";
import type { Journal } from "../../runtime/verbs.ts";
import type { workflows as workflowContract } from "../../workflows/contract.ts";
import type { WorkflowResult } from "../../workflows/definition.ts";
import type { WorkflowSummary } from "../../workflows/read.ts";
import type { Workflows } from "../../workflows/verbs.ts";
import { definedFields, type RemoteActor, relay } from "./relay.ts";

type WorkflowVerbs = Library<typeof workflowContract>;

/** How long one request may be held before the next one is sent. */
const HOLD_SECONDS = 25;

async function resultAt(
  { client }: RemoteActor,
  verbs: WorkflowVerbs,
  id: string,
): Promise<WorkflowResult<unknown>> {
  while (!(await relay(() => client.workflows.wait(id, { hold_seconds: HOLD_SECONDS }))).is_over);
  const { end } = await verbs.at(id);
  if (end === null) throw new TypeError("a workflow that is over has an end");
  if (end.status === "completed") return { status: "completed", workflow: id, result: end.result };
  const { code, reason, by: who, report } = end;
  return { status: "failed", workflow: id, code, reason, by: who, report };
}

type ListedWorkflow = AnswerOf<"GET /api/workflows">["workflows"][number];

/** A row of the library's list, made from the seed's. */
const listedWorkflow = (one: ListedWorkflow): WorkflowSummary => ({
  id: one.workflow_id,
  name: one.name,
  status: one.status,
  agent: one.agent,
  attempt: one.attempt,
  checkpoint: one.checkpoint,
  approval: one.approval_id,
  held: one.held_by,
  stuck: one.stuck_on,
  passed: one.current_checkpoint - (one.checkpoint === null ? 0 : 1),
  checkpoints: one.total_checkpoints,
  lastDecision: one.last_decision,
  createdAt: Date.parse(one.started_at),
  endedAt: one.completed_at === null ? null : Date.parse(one.completed_at),
  reason: one.error_message,
});

/** Lists are the seed's, and the end is awaited in turns. The other verbs are those of the contract. */
export const remoteWorkflows = (
  speaker: RemoteActor,
  verbs: WorkflowVerbs,
): Omit<Workflows, "follow" | "fork"> => ({
  ...verbs,
  get: (id) => verbs.at(id),
  result: (id) => resultAt(speaker, verbs, id),
  list: ({ after, text, ...page } = {}) =>
    relay(async () => {
      const asked = { ...page, ...definedFields({ cursor: after, q: text }) };
      const { workflows, next_cursor: next } = await speaker.client.workflows.list(asked);
      return { items: workflows.map(listedWorkflow), next };
    }),
});

const OWN_TRUST =
  "The server verifies with its own keys: a seal or key of yours (--seal, --key) is checked where the journal is.";

/** The server verifies by its own keys, and only so many entries. */
export const remoteJournal = (
  { client }: RemoteActor,
  verbs: JournalVerbs,
): Omit<Journal, "export" | "rebuildViews"> => ({
  ...verbs,
  async verify({ savedSeal, keys, requireSealed = false } = {}) {
    if (savedSeal !== undefined || keys !== undefined)
      throw new HoldpointError("invalid_input", OWN_TRUST, {
        next: "Run it on the store, or verify an export: verifier/verify.mjs.",
      });
    const report = await relay(() =>
      client.journal.verify({ require_sealed: requireSealed }, { timeoutSeconds: 3_600 }),
    );
    const { last_seal: seal, ...same } = report;
    const lastSeal = seal === null ? undefined : { n: seal.n, at: Date.parse(seal.at) };
    return { ...same, lastSeal } as unknown as Report;
  },
});
