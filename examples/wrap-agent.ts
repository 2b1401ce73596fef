// An agent that was there before, and the lines that put it under supervision.
type Args = Record<string, unknown>;
type Next = { tool: string; args: Args } | { answer: string };
type Hands = {
  think(task: string, seen: readonly Args[]): Promise<Next>;
  act(tool: string, args: Args): Promise<Args>;
};

const tools = {
  search: async (args: Args): Promise<Args> => ({ flight: `to ${args["to"]}`, usd: 240 }),
  book: async (args: Args): Promise<Args> => ({ booked: args["flight"] }),
};

/** Stands for a model. */
async function think(_task: string, [found, booked]: readonly Args[]): Promise<Next> {
  if (found === undefined) return { tool: "search", args: { to: "Lisbon" } };
  if (booked === undefined) return { tool: "book", args: found };
  return { answer: JSON.stringify(booked) };
}

async function agent(task: string, { think, act }: Hands): Promise<string> {
  const seen: Args[] = [];
  for (;;) {
    const next = await think(task, seen);
    if ("answer" in next) return next.answer;
    seen.push(await act(next.tool, next.args));
  }
}

// The supervision begins here.
import { holdpoint } from "holdpoint";

const hp = holdpoint();
const policy = ({ args }: { args: Args }) => (Number(args["usd"] ?? 0) > 500 ? "escalate" : "approve");
const gated = new Map(Object.entries(tools).map(([name, run]) => [name, hp.gate({ name, run, policy })]));

const supervised = hp.workflow("travel", (ctx, task: string) =>
  agent(task, {
    think: (task, seen) => ctx.step("think", () => think(task, seen)),
    act: async (name, args) => {
      const tool = gated.get(name);
      const answer = tool && (await ctx.call(tool, args));
      if (answer?.status === "done") return answer.result ?? {};
      return { refused: answer?.reason ?? `There is no tool "${name}".` };
    },
  }),
);

console.log(await supervised.run("A flight to Lisbon", { requestId: "trip-1" }));
await hp.close();
