/**
 * A workflow's own entries told as what happened: its operations with how they ended, rollbacks with what they undid, and the
 * turns of its life. Who took it up and let go of it is left out.
 */

import type { RollbackReport } from "../../core/workflow/events.ts";
import type { SettledAnswer } from "../../effects/rules/receipt.ts";
import type { JsonObject } from "../../kernel/json.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { entriesOf } from "./entries.ts";
import { checkMoment, type Moment } from "./operate-workflows.ts";
import type { Entry } from "./recorded.ts";
import {
  add,
  type CheckpointFacts,
  change,
  type Ending,
  emptyTale,
  end,
  ending,
  nameOf,
  rowAt,
  type Tale,
  type TimelineRow,
  text,
  texts,
} from "./timeline-row.ts";
import { workflowState } from "./workflows.ts";

function endOfCall(entry: Entry): Ending {
  const answer = entry.body["answer"] as unknown as SettledAnswer;
  if (answer.executed === true) return ending(entry, "applied", "", texts(answer.receipt["approvedBy"]));
  if (answer.executed === "in_doubt") return ending(entry, "in_doubt", answer.reason);
  return answer.code === "not_applied"
    ? ending(entry, "not_applied", answer.reason)
    : ending(entry, "refused", answer.reason, [answer.by]);
}

function tellCall(tale: Tale, entry: Entry): void {
  const { body } = entry;
  switch (entry.type) {
    case "call.made":
      add(tale, entry, { kind: "call", ref: text(body["action"]), name: text(body["tool"]) });
      return;
    case "call.settled":
      end(tale, text(body["action"]), endOfCall(entry));
      return;
    case "child.spawned":
      add(tale, entry, { kind: "child", ref: text(body["child"]), name: text(body["name"]) });
      return;
    case "child.ended":
      end(tale, text(body["child"]), ending(entry, text(body["status"]), text(body["reason"])));
  }
}

/** A step is first heard of when it ends, or when it is to be tried again. */
function openStep(tale: Tale, entry: Entry, op: string): void {
  if (rowAt(tale, op)?.endedSeq !== null) add(tale, entry, { kind: "step" });
}

function tellStep(tale: Tale, entry: Entry): void {
  const { body } = entry;
  const op = text(body["op"]);
  switch (entry.type) {
    case "step.completed":
    case "step.failed":
    case "operation.refused": {
      openStep(tale, entry, op);
      const status = entry.type === "step.completed" ? "completed" : "failed";
      end(tale, op, { ...ending(entry, status, text(body["error"])), until: null });
      return;
    }
    case "step.retried":
      openStep(tale, entry, op);
      change(tale, op, { reason: text(body["error"]), until: Number(body["retryAt"]) });
      return;
    case "log.written":
      add(tale, entry, { kind: "log", name: text(body["text"]), ...ending(entry, "written") });
      return;
    case "sleep.began":
      add(tale, entry, { kind: "sleep", until: Number(body["until"]) });
      return;
    case "sleep.ended":
      end(tale, op, ending(entry, "over"));
  }
}

/** The name under which the last checkpoint that asked can be found. */
const CHECKPOINT = "checkpoint";

/** Whoever goes back or gives up takes back what was asked. */
function withdraw(tale: Tale, entry: Entry): void {
  end(tale, CHECKPOINT, ending(entry, "withdrawn", "", [text(entry.body["by"])]));
}

function factsOf(body: JsonObject): CheckpointFacts {
  const { snapshot, irreversible } = body as unknown as CheckpointFacts;
  return { snapshot, canRollback: body["canRollback"] !== false, irreversible: irreversible ?? [] };
}

function tellIntent(tale: Tale, entry: Entry): void {
  const { body } = entry;
  switch (entry.type) {
    case "send.made":
      add(tale, entry, { kind: "intent", ref: text(body["intent"]), ...ending(entry, "sent") });
      return;
    case "wait.began": {
      const until = typeof body["until"] === "number" ? body["until"] : null;
      add(tale, entry, { kind: "wait", until });
      return;
    }
    case "wait.ended":
      end(tale, text(body["op"]), {
        ...ending(entry, text(body["status"]), text(body["reason"])),
        until: null,
      });
  }
}

function tellPeople(tale: Tale, entry: Entry): void {
  const { body } = entry;
  const approval = text(body["approval"]);
  const said = [text(body["reason"]), texts(body["by"])] as const;
  switch (entry.type) {
    case "checkpoint.reached":
    case "checkpoint.raised":
      tale.places.set(CHECKPOINT, tale.rows.length);
      add(tale, entry, { kind: "checkpoint", ref: approval, checkpoint: factsOf(body) });
      return;
    case "checkpoint.passed": {
      const passed = ending(entry, "passed", text(body["why"]));
      add(tale, entry, { kind: "checkpoint", checkpoint: factsOf(body), ...passed });
      return;
    }
    case "checkpoint.decided":
      end(tale, approval, ending(entry, text(body["decision"]), ...said));
      return;
    case "question.asked":
      add(tale, entry, { kind: "question", ref: approval, reason: text(body["text"]) });
      return;
    case "question.answered":
      end(tale, approval, ending(entry, text(body["status"]), ...said));
  }
}

/** The name under which the rollback that is under way can be found. */
const ROLLBACK = "rollback";

function endRollback(tale: Tale, entry: Entry, status: string, report: RollbackReport | null): void {
  const { seq: endedSeq, at: endedAt } = entry;
  const kept =
    report === null
      ? null
      : { undone: report.undone, notUndone: report.notUndone, irreversible: report.irreversible };
  end(tale, ROLLBACK, { status, endedSeq, endedAt, report: kept });
}

function goneBack(tale: Tale, toSeq: number): void {
  const isOwn = ({ kind }: TimelineRow) => kind !== "rollback" && kind !== "undo";
  tale.rows = tale.rows.map((row) => (row.seq > toSeq && isOwn(row) ? { ...row, isBack: true } : row));
}

function tellRollback(tale: Tale, entry: Entry): void {
  const { body } = entry;
  switch (entry.type) {
    case "rollback.began": {
      const name = body["to"] === null ? "" : nameOf(text(body["to"]));
      withdraw(tale, entry);
      tale.places.set(ROLLBACK, tale.rows.length);
      add(tale, entry, { kind: "rollback", name, by: [text(body["by"])], reason: text(body["reason"]) });
      return;
    }
    case "compensation.made": {
      const undoes = text(body["undoes"]);
      const undone = rowAt(tale, undoes);
      const branch = undone?.branch ?? [];
      // What a child did has no row here.
      const name = undone?.name ?? text(body["tool"]).replace(/\.undo$/, "");
      add(tale, entry, { kind: "undo", ref: text(body["action"]), undoes, name, branch });
      return;
    }
    case "compensation.settled": {
      const status = text(body["status"]);
      end(tale, text(body["action"]), ending(entry, status, text(body["reason"])));
      if (status === "undone") change(tale, text(body["undoes"]), { isUndone: true });
      return;
    }
    case "rollback.ended": {
      const report = body as unknown as RollbackReport;
      goneBack(tale, Number(body["toSeq"]));
      endRollback(tale, entry, "done", report);
      tale.attempt = Number(body["generation"]);
    }
  }
}

function tellLife(tale: Tale, entry: Entry): void {
  const { body } = entry;
  const said = [text(body["reason"]), [text(body["by"])]] as const;
  switch (entry.type) {
    case "workflow.created":
      add(tale, entry, { kind: "workflow", name: text(body["name"]), ...ending(entry, "created") });
      return;
    case "workflow.refused":
      add(tale, entry, { kind: "workflow", name: text(body["asked"]), ...ending(entry, "refused", ...said) });
      return;
    case "workflow.completed":
      add(tale, entry, { kind: "workflow", ...ending(entry, "completed") });
      return;
    case "workflow.failed": {
      const report = body["report"] as unknown as RollbackReport | null;
      withdraw(tale, entry);
      endRollback(tale, entry, report === null ? "given_up" : "done", report);
      add(tale, entry, { kind: "workflow", name: text(body["code"]), ...ending(entry, "failed", ...said) });
    }
  }
}

/** Up to a moment, or until now. */
export async function timelineOf(
  place: Pick<Runtime, "store" | "tenant">,
  id: string,
  given?: Moment,
): Promise<readonly TimelineRow[]> {
  const moment = given === undefined ? undefined : checkMoment(given);
  await workflowState(place, id);
  const tale = emptyTale();
  for await (const entry of entriesOf(place, id)) {
    if (moment !== undefined && ("seq" in moment ? entry.seq > moment.seq : entry.at > moment.time)) break;
    tellCall(tale, entry);
    tellStep(tale, entry);
    tellPeople(tale, entry);
    tellIntent(tale, entry);
    tellRollback(tale, entry);
    tellLife(tale, entry);
  }
  return structuredClone(tale.rows);
}
