/** What a workflow does while `holdpoint run` looks on: each operation as it settles, and whom it waits for. */

import type { Holdpoint, Notice } from "../index.ts";
import { visible } from "../kernel/text.ts";
import { noticeText } from "../runtime/notices.ts";
import type { WorkflowEntry } from "../workflows/rules/operations.ts";
import { fold, pad } from "./measure.ts";
import { createTeller, type Line } from "./story.ts";
import type { Terminal } from "./terminal.ts";

/** More operations than this were done by an earlier run: they are counted, not told again. */
const MOST_RETOLD = 20;
const DID = 16;
/** The end has a line of its own, and so has waiting. */
const SAID_OTHERWISE = new Set([
  "workflow.completed",
  "workflow.failed",
  "checkpoint.reached",
  "question.asked",
]);

type Wait = { readonly kind?: unknown; readonly on?: unknown };

export type Progress = {
  /** Told from the first entry on; ends with the workflow or the signal. */
  follow(workflow: string, signal: AbortSignal): Promise<void>;
  notice(notice: Notice): void;
};

/** `where`: the flags that a command needs to find the same store. */
export function createProgress(terminal: Terminal, hp: () => Holdpoint, where: string): Progress {
  const told = new Set<string>();
  const tell = (text: string) => terminal.note(text);

  function wait(approval: string, name: string, isQuestion: boolean): void {
    if (told.has(approval)) return;
    told.add(approval);
    const yes = isQuestion ? `answer ${approval} '…'` : `approve ${approval}`;
    tell(`  ${terminal.paint("yellow", "waits")} for a person: ${visible(name)}`);
    for (const command of [`show ${approval}`, yes, `reject ${approval} --reason "…"`])
      tell(`    npx holdpoint ${command}${where}`);
  }

  async function waits({ type, body }: WorkflowEntry): Promise<void> {
    if (type !== "workflow.suspended") return;
    for (const { kind, on } of body["waits"] as readonly Wait[]) {
      if (kind !== "approval" && kind !== "checkpoint" && kind !== "question") continue;
      const approval = await hp().approvals.get(String(on));
      if (approval.status === "pending") wait(approval.id, approval.tool, kind === "question");
    }
  }

  const print = ({ who, did, what }: Line) => {
    const by = who.startsWith("person:") ? `, by ${who}` : "";
    const [first = "", ...rest] = fold(`${what}${by}`, Math.max(30, terminal.columns - DID - 4));
    tell(`  ${pad(did, DID)}  ${first}`.trimEnd());
    for (const line of rest) tell(" ".repeat(DID + 4) + line);
  };

  async function follow(workflow: string, signal: AbortSignal): Promise<void> {
    const { operations, seq } = await hp().workflows.get(workflow);
    const from = operations > MOST_RETOLD ? seq : 0;
    if (from > 0) tell(`  … ${operations} operations were done before`);
    const teller = createTeller();
    for await (const entry of hp().workflows.follow(workflow, signal)) {
      const line = teller(entry);
      if (entry.seq < from) continue;
      if (line !== undefined && !SAID_OTHERWISE.has(entry.type)) print(line);
      await waits(entry);
    }
  }

  return {
    follow,
    notice(notice) {
      if (notice.kind === "waiting") wait(notice.approval, notice.tool, false);
      else if (notice.kind !== "no_request_id") tell(`holdpoint: ${noticeText(notice)}`);
    },
  };
}
