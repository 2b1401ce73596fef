/** `npm run backtest -- --actions 100000`: a policy on trial over that many recorded actions. */
import { parseArgs } from "node:util";
import { measureBacktest } from "./measure.ts";

const HELP = `npm run backtest -- [--actions <n>]   records so many actions, then back-tests a policy over them (100000)
`;
const MOST_SECONDS = 15;
const USUAL = 100_000;

if (import.meta.main) {
  const options = { actions: { type: "string", default: String(USUAL) }, help: { type: "boolean" } } as const;
  const { values } = parseArgs({ options });
  const actions = /^\d+$/.test(values.actions) ? Number(values.actions) : 0;
  if (values.help === true || actions < 1) {
    process.stderr.write(HELP);
    process.exit(values.help === true ? 0 : 2);
  }
  const { report, seconds, fileMb } = await measureBacktest(actions, (text) =>
    process.stderr.write(`${text}\n`),
  );
  const { compared, changed, people, missing } = report;
  console.log({ actions, compared, changed, people, missing, fileMb, seconds: Number(seconds.toFixed(1)) });
  const isWhole = compared === actions && people.length > 0;
  process.exitCode = isWhole && seconds < MOST_SECONDS * Math.max(1, actions / USUAL) ? 0 : 1;
}
