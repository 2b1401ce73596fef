import type { Endpoint, EndpointSummary } from "../index.ts";
import { visible } from "../kernel/text.ts";
import type { EndpointTarget } from "../notify/stream.ts";
import { type Command, type Context, EXIT, flag, isOn, word } from "./command.ts";
import { CommandError } from "./failure.ts";
import { endpointId } from "./resolve-id.ts";
import { spanOf } from "./span-of.ts";
import { printTable } from "./table.ts";
import { moment } from "./times.ts";

const HEADS = ["ID", "STATUS", "NAME", "TO", "EVENTS", "OWNER"];

/** Which flags go with which part. */
const PARTS: { readonly [part: string]: readonly string[] } = {
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

type Row = Pick<Endpoint, "status" | "name" | "target" | "events" | "owner" | "addedAt" | "off"> & {
  readonly id: string;
};

const rowOf = (summary: EndpointSummary): Row => summary as unknown as Row;

function cellsOf({ id, status, name, target, events, owner, off, addedAt }: Row, isPipe: boolean) {
  const cells = [id, status, name, targetText(target), events.join(" "), owner];
  const more = isPipe ? [moment(addedAt), off?.reason ?? "-"] : [];
  return [...cells, ...more].map(visible);
}

async function list(context: Context): Promise<void> {
  const { hp, terminal } = context;
  const standing = await hp.endpoints.list();
  const gone = isOn(context, "all") ? await hp.endpoints.list({ status: "removed" }) : [];
  const items = [...standing, ...gone];
  if (context.json) {
    for (const item of items) terminal.json(item);
    return;
  }
  const rows = items.map((item) => cellsOf(rowOf(item), !terminal.interactive));
  if (rows.length === 0) (terminal.interactive ? terminal.line : terminal.note)("There are no endpoints.");
  else if (terminal.interactive) printTable(terminal, HEADS, rows);
  else for (const cells of rows) terminal.line(cells.join("\t"));
}

function termsOf({ values }: Context) {
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

async function add(context: Context): Promise<void> {
  const { hp, terminal, person: by } = context;
  const endpoint = await hp.endpoints.add({ ...termsOf(context), by });
  if (context.json) return terminal.json(endpoint);
  terminal.line(`Added: ${visible(endpoint.id)}, ${visible(targetText(endpoint.target))}`);
  printSecret(context, endpoint.secret);
}

async function rotate(context: Context, id: string): Promise<void> {
  const { hp, terminal, person: by } = context;
  const overlap = flag(context, "overlap");
  const more = overlap === undefined ? {} : { overlapMs: spanOf("overlap", overlap) };
  const endpoint = await hp.endpoints.rotate(id, { by, ...more });
  if (context.json) return terminal.json(endpoint);
  const until = endpoint.secrets[1]?.until;
  terminal.line(`Rotated: ${id}. The secret before signs too until ${moment(Number(until))}.`);
  printSecret(context, endpoint.secret);
}

async function test(context: Context, id: string): Promise<number> {
  const { hp, terminal, person: by } = context;
  const { message, arrived, status, problem } = await hp.endpoints.test(id, { by });
  if (context.json) terminal.json({ message, arrived, status, problem });
  else if (arrived) terminal.line(`Arrived: ${visible(message)}, status ${status}.`);
  else terminal.line(`Did not arrive: ${visible(message)}, ${visible(problem ?? "nothing was sent")}.`);
  return arrived ? EXIT.ok : EXIT.refused;
}

const said = (context: Context): { readonly by: string; readonly reason?: string } => {
  const reason = flag(context, "reason");
  return { by: context.person, ...(reason === undefined ? {} : { reason }) };
};

/** What answers the endpoint as it is then. */
async function turn(context: Context, part: string, id: string): Promise<void> {
  const { hp, terminal } = context;
  if (part === "remove") await hp.endpoints.remove(id, said(context));
  if (part === "off") await hp.endpoints.switchOff(id, said(context));
  if (part === "on") await hp.endpoints.switchOn(id, said(context));
  if (part === "change") await hp.endpoints.change(id, { ...termsOf(context), by: context.person });
  const endpoint = await hp.endpoints.get(id);
  if (context.json) return terminal.json(endpoint);
  const word = endpoint.status === "removed" ? "removed" : `switched ${visible(endpoint.status)}`;
  terminal.line(
    `${id} is ${word}: ${visible(targetText(endpoint.target))}, ${endpoint.events.map(visible).join(" ")}`,
  );
}

function checkFlags({ values }: Context, part: string): void {
  const own = new Set(Object.values(PARTS).flat());
  const extra = [...values.keys()].find((name) => own.has(name) && !PARTS[part]?.includes(name));
  if (extra !== undefined)
    throw new CommandError("usage", `--${extra} does not go with "endpoints ${part}".`, "Leave it out.");
}

function usage(problem: string): CommandError {
  return new CommandError("usage", problem, `There are: ${Object.keys(PARTS).join(", ")}.`);
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
    if (PARTS[part] === undefined) throw usage(`There is no "endpoints ${visible(part)}".`);
    checkFlags(context, part);
    const isOfOne = part !== "list" && part !== "add";
    if (isOfOne && given === undefined) throw usage(`endpoints ${part} needs the id of an endpoint.`);
    if (!isOfOne && given !== undefined) throw usage(`"${visible(given)}" is one word too many.`);
    if (part === "list") await list(context);
    else if (part === "add") await add(context);
    else {
      const id = await endpointId(context, word(context, 1));
      if (part === "test") return test(context, id);
      await (part === "rotate" ? rotate(context, id) : turn(context, part, id));
    }
    return EXIT.ok;
  },
};
