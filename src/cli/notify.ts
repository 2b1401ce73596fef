/** `holdpoint endpoints` and `holdpoint notifications`. Columns as documented in the reference. */

import { visible } from "../kernel/text.ts";
import type { EndpointSummary, MessagePage, MessageSummary } from "../notify/contract.ts";
import { type EndpointTarget, MESSAGE_STATUSES } from "../notify/stream.ts";
import { type Command, type Context, EXIT, flag, isOn, word } from "./shell/command.ts";
import { CommandError } from "./shell/failure.ts";
import { DEFAULT_LIMIT, type ListResult, printList, readLimit, readList } from "./shell/lists.ts";
import { type Part, parseSpan, runPart } from "./shell/parse.ts";
import { resolveId } from "./shell/resolve-id.ts";
import { formatMoment, formatSpan } from "./shell/terminal.ts";

const ENDPOINT_HEADS = ["ID", "STATUS", "NAME", "TO", "EVENTS", "OWNER"];

/** The address of a chat is a secret: only its host is shown. */
function targetText(target: EndpointTarget): string {
  if (target.kind === "mail") return target.to.join(" ");
  return target.kind === "webhook" ? target.url : `${target.kind} at ${target.host}`;
}

function endpointCells(
  { id, status, name, target, events, owner, off, addedAt }: EndpointSummary,
  isPipe: boolean,
) {
  const cells = [id, status, name, targetText(target), events.join(" "), owner];
  const more = isPipe ? [formatMoment(addedAt), off?.reason ?? "-"] : [];
  return [...cells, ...more].map(visible);
}

async function listEndpointsCommand(context: Context): Promise<number> {
  const { hp } = context;
  const standing = await hp.endpoints.list();
  const gone = isOn(context, "all") ? await hp.endpoints.list({ status: "removed" }) : [];
  printList(
    context,
    { items: [...standing, ...gone] },
    {
      heads: ENDPOINT_HEADS,
      cells: (item) => endpointCells(item, false),
      piped: (item) => endpointCells(item, true),
      empty: "There are no endpoints.",
    },
  );
  return EXIT.ok;
}

function offerFromFlags({ values }: Context) {
  const [to, events] = [values.get("to"), values.get("event")];
  const given = ["url", "kind", "name", "owner"].flatMap((name) => {
    const value = values.get(name)?.at(-1);
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...Object.fromEntries(given),
    ...(to === undefined ? {} : { to }),
    ...(events === undefined ? {} : { events }),
  };
}

function printSecret({ terminal }: Context, secret: string | null): void {
  if (secret === null) return;
  terminal.line(`secret ${visible(secret)}`);
  terminal.note("The receiver checks signatures with this secret. It is shown this once.");
}

async function addCommand(context: Context): Promise<number> {
  const { hp, terminal, person: by } = context;
  const endpoint = await hp.endpoints.add({ ...offerFromFlags(context), by });
  if (context.json) terminal.json(endpoint);
  else {
    terminal.line(`Added: ${visible(endpoint.id)}, ${visible(targetText(endpoint.target))}`);
    printSecret(context, endpoint.secret);
  }
  return EXIT.ok;
}

const endpointId = (context: Context): Promise<string> => resolveId(context, "end", word(context, 1));

async function rotateCommand(context: Context): Promise<number> {
  const { hp, terminal, person: by } = context;
  const id = await endpointId(context);
  const overlap = flag(context, "overlap");
  const url = flag(context, "url");
  const more = {
    ...(overlap === undefined ? {} : { overlapMs: parseSpan("overlap", overlap) }),
    ...(url === undefined ? {} : { url }),
  };
  const endpoint = await hp.endpoints.rotate(id, { by, ...more });
  if (context.json) terminal.json(endpoint);
  else if (endpoint.secret === null) terminal.line(`Rotated: ${id}. Messages go to the new address.`);
  else {
    const until = endpoint.secrets[1]?.until;
    terminal.line(`Rotated: ${id}. The secret before signs too until ${formatMoment(Number(until))}.`);
    printSecret(context, endpoint.secret);
  }
  return EXIT.ok;
}

async function testCommand(context: Context): Promise<number> {
  const { hp, terminal, person: by } = context;
  const id = await endpointId(context);
  const { message, arrived, status, problem } = await hp.endpoints.test(id, { by });
  if (context.json) terminal.json({ message, arrived, status, problem });
  else if (arrived) terminal.line(`Arrived: ${visible(message)}, status ${status}.`);
  else terminal.line(`Did not arrive: ${visible(message)}, ${visible(problem ?? "nothing was sent")}.`);
  return arrived ? EXIT.ok : EXIT.refused;
}

const byAndReason = (context: Context): { readonly by: string; readonly reason?: string } => {
  const reason = flag(context, "reason");
  return { by: context.person, ...(reason === undefined ? {} : { reason }) };
};

/** Changes an endpoint and prints it. */
const changing =
  (change: (context: Context, id: string) => Promise<unknown>) =>
  async (context: Context): Promise<number> => {
    const { hp, terminal } = context;
    const id = await endpointId(context);
    await change(context, id);
    const endpoint = await hp.endpoints.get(id);
    const word = endpoint.status === "removed" ? "removed" : `switched ${visible(endpoint.status)}`;
    const events = endpoint.events.map(visible).join(" ");
    if (context.json) terminal.json(endpoint);
    else terminal.line(`${id} is ${word}: ${visible(targetText(endpoint.target))}, ${events}`);
    return EXIT.ok;
  };

const OFFER_FLAGS = ["url", "kind", "to", "event", "name", "owner"];

const ofOne = { words: 1, word: "the id of an endpoint" } as const;

const ENDPOINT_PARTS = {
  list: { flags: ["all"], words: 0, run: listEndpointsCommand },
  add: { flags: OFFER_FLAGS, words: 0, run: addCommand },
  change: {
    flags: OFFER_FLAGS,
    ...ofOne,
    run: changing((context, id) =>
      context.hp.endpoints.change(id, { ...offerFromFlags(context), by: context.person }),
    ),
  },
  rotate: { flags: ["overlap", "url"], ...ofOne, run: rotateCommand },
  test: { flags: [], ...ofOne, run: testCommand },
  off: {
    flags: ["reason"],
    ...ofOne,
    run: changing((context, id) => context.hp.endpoints.switchOff(id, byAndReason(context))),
  },
  on: {
    flags: [],
    ...ofOne,
    run: changing((context, id) => context.hp.endpoints.switchOn(id, { by: context.person })),
  },
  remove: {
    flags: ["reason"],
    ...ofOne,
    run: changing((context, id) => context.hp.endpoints.remove(id, byAndReason(context))),
  },
} as const satisfies { readonly [name: string]: Part };

export const endpointsCommand: Command = {
  name: "endpoints",
  words: ["[list|add|change|rotate|test|off|on|remove]", "[id]"],
  summary: "List, add and change the endpoints that messages go to",
  details: [
    "endpoints add --url https://hooks.example/holdpoint --event 'approval.*' prints the secret that signs, once.",
    "endpoints add --to role:supervisor --to ops@example.com --event approval.requested sends mail; --to approvers writes to whoever may decide.",
    "endpoints add --url https://hooks.slack.com/services/… --name prod posts to Slack; the address is stored as a secret, and slack://prod names the endpoint.",
    "endpoints rotate <id> makes another secret, or with --url gives a chat another address; endpoints test <id> sends a test message from here.",
    "In a pipe each line of the list is tab-separated: id, status, name, where to, events, owner, added at, why it is off.",
  ],
  examples: ["holdpoint endpoints add --url https://example.com/hook --event 'approval.*'"],
  flags: {
    url: { value: "<url>", summary: "add, change, rotate: an https address, of a webhook or of a chat" },
    kind: { value: "<kind>", summary: "add: webhook, slack or teams; by the host of the address unless set" },
    to: {
      value: "<receiver>",
      summary: "add, change: an address, person:<name>, role:<role>, group:<name> or approvers",
      repeatable: true,
    },
    event: {
      value: "<type>",
      summary: "add, change: what it hears of, such as approval.requested or 'approval.*'; all unless set",
      repeatable: true,
    },
    name: {
      value: "<text>",
      summary: "add, change: what people call it; unique among endpoints of its kind",
    },
    owner: { value: "<principal>", summary: "add, change: whose it is; yours unless set" },
    overlap: { value: "<span>", summary: "rotate: how long the secret before signs too; 24h unless set" },
    reason: { value: "<text>", summary: "off, remove: why; it is recorded" },
    all: { summary: "list: also those that were removed" },
  },
  run: async (context) => runPart(context, "endpoints", ENDPOINT_PARTS),
};

const MESSAGE_HEADS = ["ID", "AGE", "STATUS", "TRIED", "LAST", "TYPE", "TO"];

type Status = NonNullable<MessagePage["status"]>;

const readMessages = ({ hp }: Context, status: Status, limit: number): Promise<ListResult<MessageSummary>> =>
  readList(limit, (cursor) => hp.messages.list({ status, ...cursor }));

const text = (item: MessageSummary, field: keyof MessageSummary): string =>
  visible(String(item[field] ?? "-"));

/** Outcome of the last attempt: a status, or a code. */
function lastAttemptText({ last }: MessageSummary): string {
  return last === null ? "-" : visible(last.problem ?? String(last.status ?? "-"));
}

const receiver = (item: MessageSummary): string =>
  item["to"] === null ? text(item, "endpoint") : `${text(item, "endpoint")} ${text(item, "to")}`;

function messageCellsForPeople(item: MessageSummary, now: number): readonly string[] {
  const age = formatSpan(now - item.madeAt);
  const { id, status, attempts, type } = item;
  const tried = [String(attempts), lastAttemptText(item)];
  return [visible(id), age, visible(status), ...tried, visible(type), receiver(item)];
}

/** Columns as documented in the reference. */
function messageCellsForPipe(item: MessageSummary): readonly string[] {
  const due = item.dueAt === null ? "-" : formatMoment(item.dueAt);
  const tried = [text(item, "attempts"), lastAttemptText(item), due];
  const cells = [visible(item.id), text(item, "status"), formatMoment(item.madeAt), ...tried];
  return [...cells, text(item, "type"), text(item, "endpoint"), text(item, "to"), text(item, "reason")];
}

async function listMessages(context: Context, status: Status): Promise<number> {
  printList(context, await readMessages(context, status, readLimit(context)), {
    heads: MESSAGE_HEADS,
    cells: (item) => messageCellsForPeople(item, context.now),
    piped: messageCellsForPipe,
    empty: status === "any" ? "There are no messages." : `No message is ${status}.`,
  });
  return EXIT.ok;
}

async function retryCommand(context: Context): Promise<number> {
  const { hp, terminal, person: by } = context;
  const id = await resolveId(context, "msg", word(context, 1));
  const message = await hp.messages.retry(id, { by });
  if (context.json) terminal.json({ message });
  else terminal.line(`It is tried again: ${id}, under the same id. A process that delivers sends it.`);
  return EXIT.ok;
}

function statusOf(context: Context): Status {
  const given = flag(context, "status") ?? "any";
  if (given === "any" || (MESSAGE_STATUSES as readonly string[]).includes(given)) return given as Status;
  throw new CommandError(
    "usage",
    `--status "${given}" is not a status.`,
    `Use ${MESSAGE_STATUSES.join(", ")} or any.`,
  );
}

const MESSAGE_PARTS = {
  list: {
    flags: ["status", "limit"],
    words: 0,
    run: (context: Context) => listMessages(context, statusOf(context)),
  },
  dead: { flags: ["limit"], words: 0, run: (context: Context) => listMessages(context, "dead") },
  retry: { flags: [], words: 1, word: "the id of a message", run: retryCommand },
} as const satisfies { readonly [name: string]: Part };

export const notifications: Command = {
  name: "notifications",
  words: ["[list|dead|retry]", "[id]"],
  summary: "List outgoing messages; retry one that was given up",
  details: [
    "In a pipe each line is tab-separated: id, status, made at, attempts, last status or problem, due at, type, endpoint, receiver, why it was given up.",
    "Messages are sent by a process that delivers; `holdpoint endpoints` says where to.",
  ],
  examples: ["holdpoint notifications dead", "holdpoint notifications retry msg_01K9ZQ"],
  flags: {
    status: { value: "<status>", summary: "list: waiting, delivered, dead, dropped or any; any unless set" },
    limit: { value: "<n>", summary: `how many to show; ${DEFAULT_LIMIT} unless set` },
  },
  run: async (context) => runPart(context, "notifications", MESSAGE_PARTS),
};
