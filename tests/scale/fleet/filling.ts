/** A process that does its share of a load: `node filling.ts <database> <load> <life>`. */
import { type Load, withCrew, work } from "./kinds.ts";

const [database = "", load = "{}", life = ""] = process.argv.slice(2);
const say = (text: string) => process.stderr.write(`${life}: ${text}\n`);
await withCrew(database, (crew) => work(crew, { load: JSON.parse(load) as Load, life }, say));
