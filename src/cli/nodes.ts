import type { FleetNode } from "../index.ts";
import type { Json } from "../kernel/json.ts";
import { visible } from "../kernel/text.ts";
import { type Command, type Context, EXIT, isOn } from "./command.ts";
import { DEFAULT_LIMIT, type Found, readLimit, readList } from "./read-list.ts";
import { printTable } from "./table.ts";
import { moment, span } from "./times.ts";

const HEADS = ["EPOCH", "STATUS", "KIND", "VERSION", "SINCE", "WORKFLOWS", "EFFECTS", "AGENT", "PROCESS"];

/** Columns as documented in the reference. */
function cellsOf(node: FleetNode, since: string): readonly string[] {
  const { id, status, kind, version, workflows, effects, agent, process } = node;
  return [id, status, kind, version ?? "-", since, String(workflows), String(effects), agent, process].map(
    visible,
  );
}

function print({ terminal, now }: Context, { items, isAll }: Found<FleetNode>): void {
  const say = terminal.interactive ? terminal.line : terminal.note;
  if (items.length === 0)
    say("No node is there: a server, a worker or a program that executes is one from its first call on.");
  else if (terminal.interactive)
    printTable(
      terminal,
      HEADS,
      items.map((node) => cellsOf(node, span(now - node.openedAt))),
    );
  else for (const node of items) terminal.line(cellsOf(node, moment(node.openedAt)).join("\t"));
  if (!isAll) say(`… more (use --limit ${items.length * 2})`);
}

export const nodes: Command = {
  name: "nodes",
  words: [],
  summary: "the processes that execute here: which are there, and what they have in hand",
  details: [
    "live: it holds its epoch. lapsed: it does not any more, and whoever executes next takes its work over. closed and died have ended (--all).",
    "Workflows that wait for people or time are in nobody's hands, and counted nowhere.",
    "In a pipe each line is tab-separated: epoch, status, kind, version, since, workflows, effects, agent, host/pid.",
  ],
  flags: {
    all: { summary: "those that have ended too, newest first" },
    limit: { value: "<n>", summary: `how many to show; ${DEFAULT_LIMIT} unless set` },
  },
  async run(context) {
    const all = isOn(context, "all");
    const found = await readList(readLimit(context), (cursor) => context.hp.nodes.list({ all, ...cursor }));
    if (context.json) for (const node of found.items) context.terminal.json(node as unknown as Json);
    else print(context, found);
    return EXIT.ok;
  },
};
