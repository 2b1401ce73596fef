/** Holdpoint: effects that a policy function approves and that do nothing. Two commits each, chained by hashes. */
import { randomUUID } from "node:crypto";
import type { Holdpoint } from "../../src/index.ts";
import { inSequences, type OpenSystem, PAYLOAD, timed } from "../system.ts";
import { openHoldpoint } from "./open-holdpoint.ts";

const BUDGET = "shared";
const ONE = { currency: "USD", micros: 1n };
const ENOUGH = { currency: "USD", micros: 1_000_000_000_000_000n };

type Args = { readonly payload: string };

function toolsOf(hp: Holdpoint) {
  const run = ({ payload }: Args) => payload;
  const policy = () => "approve" as const;
  return {
    plain: hp.gate({ name: "plain", policy, run }),
    budgeted: hp.gate({ name: "budgeted", policy, run, cost: () => ({ budget: BUDGET, amount: ONE }) }),
  };
}

export const open: OpenSystem = async (place) => {
  const hp = openHoldpoint(place);
  const { plain, budgeted } = toolsOf(hp);
  await hp.budgets.limit(BUDGET, ENOUGH);
  const life = randomUUID().slice(0, 8);
  let calls = 0;
  return {
    servers: place.database === null ? [] : [place.database.pid],
    durability: "asserted by Holdpoint when it opens a store",
    run: (load) => {
      const tool = load.variant === "shared-budget" ? budgeted : plain;
      return inSequences(load, () =>
        timed(load, async () => {
          const answer = await tool({ payload: PAYLOAD }, { requestId: `${life}-${calls++}` });
          if (answer.status !== "done") throw new Error(`a call was not executed: ${JSON.stringify(answer)}`);
        }),
      );
    },
    close: () => hp.close(),
  };
};
