/** Actions, receipts, workflows, the journal and the kill switch of a server. */

import type { Report } from "../../journal/verify.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import type { Said } from "../../kernel/said.ts";
import type { KillSwitch } from "../../kill-switch/methods.ts";
import type { Stoppable } from "../../kill-switch/stream.ts";
import type { Journal } from "../../runtime/journal.ts";
import type { WorkflowResult } from "../../workflows/definition.ts";
import type { Workflows } from "../../workflows/methods.ts";
import type { WorkflowDetails } from "../../workflows/read.ts";
import { type AskLibrary, actorField, definedFields, type RemoteActor, relay } from "./relay.ts";

type ReachableWorkflows = Omit<Workflows, "follow" | "jobs" | "fork">;

/** How long one request may be held before the next one is sent. */
const HOLD_SECONDS = 25;

async function resultAt(
  { client }: RemoteActor,
  look: AskLibrary,
  id: string,
): Promise<WorkflowResult<unknown>> {
  while (!(await relay(() => client.workflows.wait(id, { hold_seconds: HOLD_SECONDS }))).is_over);
  const { end } = await look<WorkflowDetails>("workflows.get", id);
  if (end === null) throw new TypeError("a workflow that is over has an end");
  if (end.status === "completed") return { status: "completed", workflow: id, result: end.result };
  const { code, reason, by: who, report } = end;
  return { status: "failed", workflow: id, code, reason, by: who, report };
}

export function remoteWorkflows(speaker: RemoteActor, look: AskLibrary): ReachableWorkflows {
  const { workflows } = speaker.client;
  return {
    start: (name, input, { by: who, requestId, onBehalfOf, approvalRequired, budget } = {}) =>
      relay(async () => {
        const whose = definedFields({
          request_id: requestId,
          on_behalf_of: onBehalfOf === undefined ? undefined : [...onBehalfOf],
        });
        const terms = definedFields({ approval_required: approvalRequired, budget });
        const said = { input, ...whose, ...terms, ...(who === undefined ? {} : actorField(speaker, who)) };
        const { workflow_id, is_new, nodes } = await speaker.client.definitions.start(name, said);
        return { id: workflow_id, isNew: is_new, nodes };
      }),
    result: (id) => resultAt(speaker, look, id),
    get: (id) => look("workflows.get", id),
    list: (page = {}) => look("workflows.list", page),
    at: (id, moment) => look("workflows.at", id, moment),
    timeline: (id, moment) => look("workflows.timeline", id, moment),
    find: (text) => look("workflows.find", text),
    snapshot: (id, checkpoint) => look("workflows.snapshot", id, checkpoint),
    cancel: (id, { by: who, reason }) =>
      relay(async () => (await workflows.cancel(id, { reason, ...actorField(speaker, who) })).status),
    rollback: (id, { by: who, reason, to, after }) =>
      relay(async () => {
        const request = { reason, ...definedFields({ to, after }), ...actorField(speaker, who) };
        return (await workflows.rollback(id, request)).status;
      }),
  };
}

const OWN_TRUST =
  "The server verifies with its own keys: a seal or key of yours (--seal, --key) is checked where the journal is.";

export function remoteJournal({ client }: RemoteActor, look: AskLibrary): Pick<Journal, "read" | "verify"> {
  return {
    read: (id) => look("journal.read", id),
    async verify({ savedSeal, keys, requireSealed = false } = {}) {
      if (savedSeal !== undefined || keys !== undefined)
        throw new HoldpointError("invalid_input", OWN_TRUST, {
          next: "Run it on the store, or verify an export: verifier/verify.mjs.",
        });
      const report = await relay(() =>
        client.journal.verify({ require_sealed: requireSealed }, { timeoutSeconds: 3_600 }),
      );
      const { last_seal: seal, ok, total, findings, counts } = report;
      const lastSeal = seal === null ? undefined : { n: seal.n, at: Date.parse(seal.at) };
      return { ok, findings, total, counts, lastSeal } as unknown as Report;
    },
  };
}

export function remoteSwitch(speaker: RemoteActor, look: AskLibrary): KillSwitch {
  const { killSwitch } = speaker.client;
  const word = ({ by: who, reason, agent, workflow }: Said & Stoppable) => ({
    reason,
    ...definedFields({ agent, workflow_id: workflow }),
    ...actorField(speaker, who),
  });
  return {
    pause: (said) => relay(async () => (await killSwitch.pause(word(said))).changed),
    resume: (said) => relay(async () => (await killSwitch.resume(word(said))).changed),
    paused: (whose) => look("switch.paused", whose),
  };
}
