/** What one of each kind leaves, measured alone; then a mixed load, beside what the model says. */
import { type Stock, startDatabase } from "./database.ts";
import { KINDS, type Kind, type Load, withCrew, work } from "./kinds.ts";
import { type Predicted, predict } from "./model.ts";

const MANY = 2_000;
const MIXED: Load = { performed: 6_000, approved: 1_000, rejected: 500, suspended: 500 };
/** One at a time: every decision is a commit of its own. */
const ALONE = 150;

const less = (after: Stock, before: Stock): Stock =>
  Object.fromEntries(
    (Object.keys(after) as (keyof Stock)[]).map((field) => [field, after[field] - before[field]]),
  ) as Stock;

const eachOf = (left: Stock, many: number): Stock =>
  Object.fromEntries(
    Object.entries(left).map(([field, value]) => [field, Math.round((value / many) * 100) / 100]),
  ) as Stock;

export async function calibrate(kind: Kind): Promise<Predicted> {
  const database = await startDatabase();
  try {
    return await withCrew(database.url, async (crew) => {
      await work(crew, { load: { [kind]: 50 }, life: "first" });
      const before = await database.stock();
      await work(crew, { load: { [kind]: ALONE }, life: "alone", lanes: 1 });
      const alone = await database.stock();
      await work(crew, { load: { [kind]: MANY }, life: "many" });
      const { commits: _, ...left } = eachOf(less(await database.stock(), alone), MANY);
      return { ...left, decisions: eachOf(less(alone, before), ALONE).commits };
    });
  } finally {
    await database.stop();
  }
}

export type Compared = { readonly load: Load; readonly predicted: Predicted; readonly measured: Stock };

export async function compare(load: Load = MIXED): Promise<Compared> {
  const database = await startDatabase();
  try {
    return await withCrew(database.url, async (crew) => {
      await work(crew, { load: Object.fromEntries(KINDS.map((kind) => [kind, 50])), life: "first" });
      const before = await database.stock();
      await work(crew, { load, life: "mixed" });
      return { load, predicted: predict(load), measured: less(await database.stock(), before) };
    });
  } finally {
    await database.stop();
  }
}
