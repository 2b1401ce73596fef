/** `holdpoint endpoints` and `holdpoint notifications`. Columns as documented in the reference. */

import { visible } from "../kernel/text.ts";
import type { Endpoint, EndpointSummary } from "../notify/endpoints.ts";
import type { MessagePage, MessageSummary } from "../notify/methods.ts";
import { type EndpointTarget, MESSAGE_STATUSES } from "../notify/stream.ts";
import { type Command, type Context, EXIT, flag, isOn, word } from "./shell/command.ts";
import { CommandError } from "./shell/failure.ts";
import { DEFAULT_LIMIT, type ListResult, printList, readLimit, readList } from "./shell/lists.ts";
import { parseSpan } from "./shell/parse.ts";
import { resolveId } from "./shell/resolve-id.ts";
import { formatMoment, formatSpan } from "./shell/terminal.ts";

const ENDPOINT_HEADS = ["ID", "STATUS", "NAME", "TO", "EVENTS", "OWNER"];

/** Flags of each part. */
const ENDPOINT_PARTS: { readonly [part: string]: readonly string[] } = {
  list: ["all"],
  add: ["url", "to", "event", "name", "owner"],
  change: ["url", "to", "event", "name", "owner"],
  rotate: ["overlap"],
  test: [],
  off: ["reason"],
  on: [],
  remove: ["reason"],
};

const targetText = (target: EndpointTarget): string =>
  target.kind === "webhook" ? target.url : target.to.join(" ");

type EndpointRow = Pick<Endpoint, "status" | "name" | "target" | "events" | "owner" | "addedAt" | "off"> & {
  readonly id: string;
};

const endpointRow = (summary: EndpointSummary): EndpointRow => summary as unknown as EndpointRow;

function endpointCells(
  { id, status, name, target, events, owner, off, addedAt }: EndpointRow,
  isPipe: boolean,
) {
  const cells = [id, status, name, targetText(target), events.join(" "), owner];
  const more = isPipe ? [formatMoment(addedAt), off?.reason ?? "-"] : [];
  return [...cells, ...more].map(visible);
}

async function listEndpointsCommand(context: Context): Promise<void> {
  const { hp } = context;
  const standing = await hp.endpoints.list();
  const gone = isOn(context, "all") ? await hp.endpoints.list({ status: "removed" }) : [];
  printList(
    context,
    { items: [...standing, ...gone] },
    {
      heads: ENDPOINT_HEADS,
      cells: (item) => endpointCells(endpointRow(item), false),
      piped: (item) => endpointCells(endpointRow(item), true),
      empty: "There are no endpoints.",
    },
  );
}

function offerFromFlags({ values }: Context) {
  const [to, events] = [values.get("to"), values.get("event")];
  const given = ["url", "name", "owner"].flatMap((name) => {
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

async function addCommand(context: Context): Promise<void> {
  const { hp, terminal, person: by } = context;
  const endpoint = await hp.endpoints.add({ ...offerFromFlags(context), by });
  if (context.json) return terminal.json(endpoint);
  terminal.line(`Added: ${visible(endpoint.id)}, ${visible(targetText(endpoint.target))}`);
  printSecret(context, endpoint.secret);
}

async function rotateCommand(context: Context, id: string): Promise<void> {
  const { hp, terminal, person: by } = context;
  const overlap = flag(context, "overlap");
  const more = overlap === undefined ? {} : { overlapMs: parseSpan("overlap", overlap) };
  const endpoint = await hp.endpoints.rotate(id, { by, ...more });
  if (context.json) return terminal.json(endpoint);
  const until = endpoint.secrets[1]?.until;
  terminal.line(`Rotated: ${id}. The secret before signs too until ${formatMoment(Number(until))}.`);
  printSecret(context, endpoint.secret);
}

async function testCommand(context: Context, id: string): Promise<number> {
  const { hp, terminal, person: by } = context;
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

/** Parts that print the endpoint after the change. */
async function switchCommand(context: Context, part: string, id: string): Promise<void> {
  const { hp, terminal } = context;
  if (part === "remove") await hp.endpoints.remove(id, byAndReason(context));
  if (part === "off") await hp.endpoints.switchOff(id, byAndReason(context));
  if (part === "on") await hp.endpoints.switchOn(id, byAndReason(context));
  if (part === "change") await hp.endpoints.change(id, { ...offerFromFlags(context), by: context.person });
  const endpoint = await hp.endpoints.get(id);
  if (context.json) return terminal.json(endpoint);
  const word = endpoint.status === "removed" ? "removed" : `switched ${visible(endpoint.status)}`;
  terminal.line(
    `${id} is ${word}: ${visible(targetText(endpoint.target))}, ${endpoint.events.map(visible).join(" ")}`,
  );
}

function checkFlags({ values }: Context, part: string): void {
  const own = new Set(Object.values(ENDPOINT_PARTS).flat());
  const extra = [...values.keys()].find((name) => own.has(name) && !ENDPOINT_PARTS[part]?.includes(name));
  if (extra !== undefined)
    throw new CommandError("usage", `--${extra} does not go with "endpoints ${part}".`, "Leave it out.");
}

function endpointsUsage(problem: string): CommandError {
  return new CommandError("usage", problem, `There are: ${Object.keys(ENDPOINT_PARTS).join(", ")}.`);
}

export const endpoints: Command = {
  name: "endpoints",
  words: ["[list|add|change|rotate|test|off|on|remove]", "[id]"],
  summary: "where messages to the outside go: webhooks and mail",
  details: [
    "endpoints add --url https://hooks.example/holdpoint --event 'approval.*' prints the secret that signs, once.",
    "endpoints add --to role:supervisor --to ops@example.com --event approval.requested sends mail; --to approvers writes to whoever may decide.",
    "endpoints rotate <id> makes another secret; endpoints test <id> sends a test message from here.",
    "In a pipe each line of the list is tab-separated: id, status, name, where to, events, owner, added at, why it is off.",
  ],
  flags: {
    url: { value: "<url>", summary: "add, change: a webhook's address, https" },
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
    name: { value: "<text>", summary: "add, change: what people call it" },
    owner: { value: "<principal>", summary: "add, change: whose it is; yours unless set" },
    overlap: { value: "<span>", summary: "rotate: how long the secret before signs too; 24h unless set" },
    reason: { value: "<text>", summary: "off, remove: why; it is recorded" },
    all: { summary: "list: also those that were removed" },
  },
  async run(context) {
    const [part = "list", given] = context.words;
    if (ENDPOINT_PARTS[part] === undefined) throw endpointsUsage(`There is no "endpoints ${visible(part)}".`);
    checkFlags(context, part);
    const isOfOne = part !== "list" && part !== "add";
    if (isOfOne && given === undefined)
      throw endpointsUsage(`endpoints ${part} needs the id of an endpoint.`);
    if (!isOfOne && given !== undefined) throw endpointsUsage(`"${visible(given)}" is one word too many.`);
    if (part === "list") await listEndpointsCommand(context);
    else if (part === "add") await addCommand(context);
    else {
      const id = await resolveId(context, "end", word(context, 1));
      if (part === "test") return testCommand(context, id);
      await (part === "rotate" ? rotateCommand(context, id) : switchCommand(context, part, id));
    }
    return EXIT.ok;
  },
};

const MESSAGE_PARTS = ["list", "dead", "retry"];
const MESSAGE_HEADS = ["ID", "AGE", "STATUS", "TRIED", "LAST", "TYPE", "TO"];

type Status = NonNullable<MessagePage["status"]>;

const readMessages = ({ hp }: Context, status: Status, limit: number): Promise<ListResult<MessageSummary>> =>
  readList(limit, (cursor) => hp.messages.list({ status, ...cursor }));

const text = (item: MessageSummary, field: string): string => visible(String(item[field] ?? "-"));

/** Outcome of the last attempt: a status, or a code. */
function lastAttemptText(item: MessageSummary): string {
  const last = item["last"] as { readonly status: number | null; readonly problem: string | null } | null;
  return last === null ? "-" : visible(last.problem ?? String(last.status ?? "-"));
}

const receiver = (item: MessageSummary): string =>
  item["to"] === null ? text(item, "endpoint") : `${text(item, "endpoint")} ${text(item, "to")}`;

function messageCellsForPeople(item: MessageSummary, now: number): readonly string[] {
  const age = formatSpan(now - Number(item["madeAt"]));
  const [status, attempts, type] = ["status", "attempts", "type"].map((field) => text(item, field));
  return [
    visible(item.id),
    age,
    status ?? "",
    attempts ?? "",
    lastAttemptText(item),
    type ?? "",
    receiver(item),
  ];
}

/** Columns as documented in the reference. */
function messageCellsForPipe(item: MessageSummary): readonly string[] {
  const due = item["dueAt"] === null ? "-" : formatMoment(Number(item["dueAt"]));
  const made = formatMoment(Number(item["madeAt"]));
  const cells = [
    visible(item.id),
    text(item, "status"),
    made,
    text(item, "attempts"),
    lastAttemptText(item),
    due,
  ];
  return [...cells, text(item, "type"), text(item, "endpoint"), text(item, "to"), text(item, "reason")];
}

async function listMessagesCommand(context: Context, status: Status): Promise<void> {
  printList(context, await readMessages(context, status, readLimit(context)), {
    heads: MESSAGE_HEADS,
    cells: (item) => messageCellsForPeople(item, context.now),
    piped: messageCellsForPipe,
    empty: status === "any" ? "There are no messages." : `No message is ${status}.`,
  });
}

async function retryCommand(context: Context): Promise<void> {
  const { hp, terminal, person: by } = context;
  const id = await resolveId(context, "msg", word(context, 1));
  const message = await hp.messages.retry(id, { by });
  if (context.json) return terminal.json({ message });
  terminal.line(`It is tried again: ${id}, under the same id. A process that delivers sends it.`);
}

function notificationsUsage(problem: string): CommandError {
  return new CommandError(
    "usage",
    problem,
    `There are: ${MESSAGE_PARTS.join(", ")}. Try: holdpoint notifications --help`,
  );
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

export const notifications: Command = {
  name: "notifications",
  words: ["[list|dead|retry]", "[id]"],
  summary: "messages to the outside: newest first; `dead` lists those given up, `retry <id>` sends one again",
  details: [
    "In a pipe each line is tab-separated: id, status, made at, attempts, last status or problem, due at, type, endpoint, receiver, why it was given up.",
    "Messages are sent by a process that delivers; `holdpoint endpoints` says where to.",
  ],
  flags: {
    status: { value: "<status>", summary: "list: waiting, delivered, dead, dropped or any; any unless set" },
    limit: { value: "<n>", summary: `how many to show; ${DEFAULT_LIMIT} unless set` },
  },
  async run(context) {
    const [part = "list", id] = context.words;
    if (!MESSAGE_PARTS.includes(part))
      throw notificationsUsage(`There is no "notifications ${visible(part)}".`);
    if (part === "retry" && id === undefined)
      throw notificationsUsage("notifications retry needs the id of a message.");
    if (part !== "retry" && id !== undefined)
      throw notificationsUsage(`"${visible(id)}" is one word too many.`);
    if (part !== "list" && flag(context, "status") !== undefined)
      throw notificationsUsage("--status goes with list.");
    if (part === "retry") await retryCommand(context);
    else await listMessagesCommand(context, part === "dead" ? "dead" : statusOf(context));
    return EXIT.ok;
  },
};
