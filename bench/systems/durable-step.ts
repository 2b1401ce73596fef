/** Holdpoint: workflows of steps that do nothing, one after another. One commit each, chained by hashes. */
import { inSequences, type Load, type OpenSystem, PAYLOAD, STEPS, timed } from "../system.ts";
import { openHoldpoint } from "./open-holdpoint.ts";

export const open: OpenSystem = async (place) => {
  const hp = openHoldpoint(place);
  let load: Load | undefined;
  const steps = hp.workflow("steps", async (ctx) => {
    for (let n = 0; n < STEPS && load?.isOver() === false; n++)
      await timed(load, () => ctx.step(`step-${n}`, () => PAYLOAD));
    return null;
  });
  return {
    servers: place.database === null ? [] : [place.database.pid],
    durability: "asserted by Holdpoint when it opens a store",
    run: async (given) => {
      load = given;
      await inSequences(given, async () => {
        const end = await steps.run(null);
        if (end.status !== "completed")
          throw new Error(`a workflow was not completed: ${JSON.stringify(end)}`);
      });
    },
    close: () => hp.close(),
  };
};
