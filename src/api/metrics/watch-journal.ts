/** Counts checkpoints, decisions (with waiting time) and outcomes of actions in the journal; logs the first two. */

import { questionEnds } from "../../approvals/state.ts";
import { isJsonObject, type Json } from "../../kernel/json.ts";
import { approvalStream, parseStreamRef } from "../../kernel/stream.ts";
import { readState } from "../../runtime/store-access.ts";
import type { TenantStore } from "../../stores/store.ts";
import type { Frame, Hub } from "../events/hub.ts";
import type { Log } from "../log.ts";
import type { JournalCounters } from "./metrics.ts";

const ACTIONS: { readonly [type: string]: string } = {
  "effect.applied": "applied",
  "effect.not_applied": "not_applied",
  "effect.in_doubt": "in_doubt",
  "action.refused": "refused",
};
const CHECKPOINTS: { readonly [type: string]: string } = {
  "checkpoint.reached": "reached",
  "checkpoint.passed": "passed",
  "checkpoint.raised": "raised",
};
const field = (body: Json, name: string): string | null => {
  const value = isJsonObject(body) ? body[name] : undefined;
  return typeof value === "string" ? value : null;
};

function endOf({ type }: Frame): string | undefined {
  // The end of the question, not of the approval that was granted.
  return questionEnds.find((status) => type === `approval.${status}`);
}

type JournalWatch = { readonly tally: JournalCounters; readonly log: Log };

async function countEnd(
  place: TenantStore,
  frame: Frame,
  outcome: string,
  { tally, log }: JournalWatch,
): Promise<void> {
  const record = frame.record();
  const approval = await readState(place, approvalStream(parseStreamRef(record.stream).id));
  if (approval.status === "none") return;
  const seconds = Math.max(0, record.at - approval.requestedAt) / 1_000;
  tally.decided(outcome, seconds);
  log({
    level: "info",
    message: "approval",
    tenant: place.tenant,
    approval_id: parseStreamRef(record.stream).id,
    workflow_id: frame.workflow,
    checkpoint_name: approval.subject?.kind === "checkpoint" ? approval.tool : null,
    outcome,
    latency_seconds: seconds,
  });
}

async function countEvent(place: TenantStore, frame: Frame, watch: JournalWatch): Promise<void> {
  const { type, workflow } = frame;
  const { tally, log } = watch;
  const action = ACTIONS[type];
  if (action !== undefined) tally.action(action);
  const checkpoint = CHECKPOINTS[type];
  if (checkpoint !== undefined) {
    tally.checkpoint(checkpoint);
    const checkpoint_name = field(frame.record().body, "name");
    log({
      ...{ level: "info", message: "checkpoint", tenant: place.tenant },
      ...{ workflow_id: workflow, checkpoint_name, outcome: checkpoint },
    });
  }
  const end = endOf(frame);
  if (end !== undefined) await countEnd(place, frame, end, watch);
}

/** Handles frames in order, one at a time. A failure is reported, and the rest of that batch is skipped. */
export function watchJournal(
  place: TenantStore,
  hub: Pick<Hub, "join">,
  watch: JournalWatch & { readonly failed: (error: unknown) => void },
): void {
  let before = Promise.resolve();
  const seeAll = async (frames: readonly Frame[]) => {
    for (const frame of frames) await countEvent(place, frame, watch);
  };
  hub.join((frames) => {
    before = before.then(() => seeAll(frames)).catch(watch.failed);
  });
}
