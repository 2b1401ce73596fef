import type {
  Intent,
  IntentAnswer,
  IntentPage,
  IntentSummary,
  OutgoingIntent,
} from "../agents/intents/contract.ts";
import { type Json, parseJson } from "../kernel/json.ts";
import { visible } from "../kernel/text.ts";
import { type Command, type Context, EXIT, flag, isOn, needed, word } from "./shell/command.ts";
import { usage } from "./shell/failure.ts";
import { printList, readLimit } from "./shell/lists.ts";
import { type Part, parseSpan, runPart } from "./shell/parse.ts";
import { resolveId } from "./shell/resolve-id.ts";
import { printArgs, sectionsOn } from "./shell/sections.ts";
import { formatAgo, formatMoment } from "./shell/terminal.ts";

function jsonIn(context: Context, name: string): Json {
  const given = flag(context, name);
  return given === undefined ? {} : parseJson(given);
}

const HEADS = ["ID", "STATUS", "TYPE", "FROM", "TO", "SENT", "PAYLOAD"];

function cellsOf(item: IntentSummary): readonly string[] {
  const { id, lifecycleStatus, intentType, from, to, sentAt, payload } = item;
  return [id, lifecycleStatus, intentType, from, to, formatMoment(sentAt), payload].map(visible);
}

function pageOf(context: Context): IntentPage {
  const [status, to, from] = ["status", "to", "from"].map((name) => flag(context, name));
  const word = status?.toLowerCase().replace(/^canceled$/, "cancelled");
  return {
    limit: readLimit(context),
    ...(word === undefined ? {} : { status: word as NonNullable<IntentPage["status"]> }),
    ...(to === undefined ? {} : { to }),
    ...(from === undefined ? {} : { from }),
  };
}

async function list(context: Context): Promise<number> {
  const { items } = await context.hp.intents.list(pageOf(context));
  printList(context, { items }, { heads: HEADS, cells: cellsOf, empty: "No intents." });
  return EXIT.ok;
}

function endLines(intent: Intent, now: number): readonly (readonly [string, string])[] {
  const { end } = intent;
  if (end === null) return [];
  const reason = end.status === "completed" ? "" : `: ${end.reason}`;
  return [["ended", `${formatAgo(end.at, now)} by ${end.by}${reason}`]];
}

/** The life cycle comes first, in a line that a program can search for. */
export function printIntent(context: Context, intent: Intent): number {
  const { terminal, now, full } = context;
  if (context.json) {
    const { lifecycleStatus, ...rest } = intent;
    terminal.json({ lifecycle_status: lifecycleStatus, ...rest } as unknown as Json);
    return EXIT.ok;
  }
  const sections = sectionsOn(terminal, full);
  terminal.line(`lifecycle_status: ${visible(intent.lifecycleStatus)}`);
  const { id, intentType, from, to, toAgent, requestId, deadline, approval, waitsOn, parent } = intent;
  const lines: [string, string | null][] = [
    ["intent", id],
    ["type", intentType],
    ["from", from],
    ["to", to === toAgent ? to : `${toAgent} (${to})`],
    ["request id", requestId],
    ["parent", parent],
    ["workflow", intent.within?.workflow ?? null],
    ["sent", formatAgo(intent.sentAt, now)],
    ["deadline", deadline === null ? null : formatAgo(deadline, now)],
    ["acknowledged", intent.acknowledged?.by ?? null],
    ["waits for", intent.end === null ? waitsOn : null],
    ["approval", approval],
  ];
  for (const [label, value] of [...lines, ...endLines(intent, now)])
    if (value !== null) sections.field(label, value);
  sections.heading("Payload");
  printArgs(terminal, intent.payload, full);
  if (intent.end?.status === "completed") {
    sections.heading("Data");
    printArgs(terminal, intent.end.data, full);
  }
  return EXIT.ok;
}

async function get(context: Context): Promise<number> {
  return printIntent(
    context,
    await context.hp.intents.get(await resolveId(context, "int", word(context, 1))),
  );
}

function outgoingOf(context: Context): OutgoingIntent {
  const [requestId, within] = ["request-id", "within"].map((name) => flag(context, name));
  return {
    intentType: needed(context, "type"),
    toAgent: needed(context, "to"),
    payload: jsonIn(context, "payload"),
    from: context.person,
    ...(requestId === undefined ? {} : { requestId }),
    ...(within === undefined ? {} : { withinMs: parseSpan("within", within) }),
  };
}

async function send(context: Context): Promise<number> {
  const { hp, terminal } = context;
  const sent = await hp.intents.send(outgoingOf(context));
  if (context.json) terminal.json({ intent_id: sent.id, approval: sent.approval });
  else {
    terminal.line(`intent_id: ${visible(sent.id)}`);
    if (sent.approval !== null) terminal.line(`People are asked: holdpoint show ${visible(sent.approval)}`);
  }
  return EXIT.ok;
}

function answerOf(context: Context): IntentAnswer {
  const failed = flag(context, "failed");
  if (failed !== undefined && isOn(context, "result"))
    throw usage("An intent is completed with a --result, or it has --failed.", "Leave one of them out.");
  const by = context.person;
  return failed === undefined ? { by, data: jsonIn(context, "result") } : { by, failed };
}

async function answer(context: Context): Promise<number> {
  const id = await resolveId(context, "int", word(context, 1));
  return printIntent(context, await context.hp.intents.answer(id, answerOf(context)));
}

async function cancel(context: Context): Promise<number> {
  const id = await resolveId(context, "int", word(context, 1));
  const said = { by: context.person, reason: needed(context, "reason") };
  return printIntent(context, await context.hp.intents.cancel(id, said));
}

const PARTS = {
  list: { flags: ["status", "to", "from", "limit"], words: 0, run: list },
  get: { flags: ["full"], words: 1, run: get },
  send: {
    flags: ["type", "to", "payload", "request-id", "within"],
    needs: ["type", "to"],
    words: 0,
    run: send,
  },
  answer: { flags: ["result", "failed", "full"], words: 1, run: answer },
  cancel: { flags: ["reason", "full"], needs: ["reason"], words: 1, run: cancel },
} as const satisfies { readonly [name: string]: Part };

export const intentsCommand: Command = {
  name: "intents",
  words: ["[list|get|send|answer|cancel]", "[id]"],
  summary: "List, show, send, answer and cancel intents",
  details: [
    "intents (or intents list) lists them, newest first.",
    `intents send --type human_approval --to agent://approver --payload '{"task": "Deploy", "risk_level": "high"}'`,
    "intents answer <id> speaks for the recipient; what people are to approve is decided by `holdpoint approve` and `holdpoint reject`.",
    "In a pipe each line is tab-separated: id, life cycle, type, sender, recipient, time, payload.",
  ],
  examples: [`holdpoint intents send --to agent:buyer --type quote --payload '{"item": 7}'`],
  flags: {
    status: { value: "<status>", summary: "list: only those that stand so, such as completed" },
    to: { value: "<address>", summary: "list: for whom; send: agent://<name>, or who approves" },
    from: { value: "<principal>", summary: "list: by whom" },
    limit: { value: "<n>", summary: "list: how many to show; 50 unless set" },
    type: { value: "<type>", summary: "send: what is asked for, such as human_approval" },
    payload: { value: "<json>", summary: "send: what the recipient is told" },
    "request-id": { value: "<id>", summary: "send: the same again under it is the same intent" },
    within: { value: "<span>", summary: "send: how long it may take, such as 7d; for ever unless set" },
    result: { value: "<json>", summary: "answer: the data that it is completed with" },
    failed: { value: "<text>", summary: "answer: why it failed instead" },
    reason: { value: "<text>", summary: "cancel: why; it is recorded" },
    full: { summary: "get: long values in full" },
  },
  run: async (context) => runPart(context, "intents", PARTS),
};
