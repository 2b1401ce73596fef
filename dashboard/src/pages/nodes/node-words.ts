import type { AnswerOf } from "holdpoint/client";

export type Node = AnswerOf<"GET /api/nodes">["nodes"][number];

export const STATUS_WORDS: { readonly [status in Node["status"]]: string } = {
  live: "holds its epoch",
  lapsed: "does not hold its epoch any more; another will take over what it had",
  closed: "ended by itself",
  died: "was found dead; others took over what it had",
};

/** The machines, each once. A process is named `host/pid`. */
export const hostsOf = (nodes: readonly Pick<Node, "process">[]): readonly string[] => [
  ...new Set(nodes.map(({ process }) => process.slice(0, Math.max(0, process.lastIndexOf("/"))))),
];
