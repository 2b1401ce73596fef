/**
 * Tampers with honest journals and asks both verifiers: `node tests/verify/tamper.ts [--count 10000] [--seed 1]`.
 * Every tampering has to be found, no honest journal may be, and the two have to agree on every finding.
 */
import { parseArgs } from "node:util";
import { verifyExport } from "../../src/journal/export.ts";
import {
  essence,
  exportLines,
  honestJournal,
  type Journal,
  type Random,
  randomFrom,
  savedSeal,
  TEST_KEY,
  verifyLines,
} from "./journal-fixture.ts";
import { TAMPERINGS, TEXT_TAMPERINGS } from "./tamperings.ts";

export type Tally = {
  readonly kinds: Map<string, { tried: number; found: number }>;
  honest: number;
  falseAlarms: number;
  /** Cases that went wrong, to be replayed by their seed. */
  readonly wrong: string[];
};

type Options = NonNullable<Parameters<typeof verifyExport>[1]>;

/** Both verifiers' verdict, or a sentence when they differ. */
function verdict(lines: readonly string[], options: Options): boolean | string {
  const ours = verifyExport(lines, options);
  const theirs = verifyLines(lines, { ...options, seal: options.savedSeal });
  return essence(ours) === essence(theirs) ? ours.ok : `${essence(ours)} differs from ${essence(theirs)}`;
}

const linesBy: Readonly<Record<string, (journal: Journal, random: Random) => string[]>> = {
  ...Object.fromEntries(
    Object.entries(TAMPERINGS).map(([kind, tamper]) => [
      kind,
      (journal: Journal, random: Random) => {
        tamper(journal, random);
        return exportLines(journal);
      },
    ]),
  ),
  ...TEXT_TAMPERINGS,
};

/** Building a journal takes longer than verifying it: each is tampered with in several ways. */
const journals = new Map<number, Journal>();

function journalOf(seed: number, at: number): Journal {
  const number = seed + Math.floor(at / 20);
  const journal = journals.get(number) ?? honestJournal(randomFrom(number));
  journals.set(number, journal);
  return journal;
}

export function tamperWith(count: number, seed: number, tally: Tally = newTally()): Tally {
  const kinds = Object.entries(linesBy);
  for (let at = 0; at < count; at++) {
    const [kind, tamper] = kinds[at % kinds.length] ?? ["", exportLines];
    const journal = { ...journalOf(seed, at) };
    const saved = savedSeal(journal);
    const result = verdict(tamper(journal, randomFrom(seed + at + 0x5eed)), { savedSeal: saved });
    const row = tally.kinds.get(kind) ?? { tried: 0, found: 0 };
    row.tried += 1;
    if (result === false) row.found += 1;
    else tally.wrong.push(`${kind}, seed ${seed + at}: ${result === true ? "not found" : result}`);
    tally.kinds.set(kind, row);
  }
  return tally;
}

export function verifyHonest(count: number, seed: number, tally: Tally = newTally()): Tally {
  for (let at = 0; at < count; at++) {
    const random = randomFrom(seed + at);
    const journal = honestJournal(random);
    const lines = exportLines(journal);
    const saved = savedSeal(journal, 1 + random.below(journal.seals.length));
    const ways = [{}, { keys: [TEST_KEY.publicJwk] }, { savedSeal: saved }];
    const result = verdict(lines, ways[at % ways.length] ?? {});
    if (result !== true) {
      tally.falseAlarms += 1;
      tally.wrong.push(`honest, seed ${seed + at}: ${result === false ? "a false alarm" : result}`);
    }
    tally.honest += 1;
  }
  return tally;
}

export function newTally(): Tally {
  return { kinds: new Map(), honest: 0, falseAlarms: 0, wrong: [] };
}

function print({ kinds, honest, falseAlarms, wrong }: Tally): void {
  for (const [kind, { tried, found }] of kinds) console.log(`${found} of ${tried} found: ${kind}`);
  const rows = [...kinds.values()];
  const sum = (part: "tried" | "found") => rows.reduce((total, row) => total + row[part], 0);
  for (const line of wrong.slice(0, 20)) console.log(`WRONG ${line}`);
  console.log(`${sum("tried")} tamperings of ${rows.length} kinds, ${sum("found")} found by both verifiers.`);
  console.log(`${honest} honest journals, ${falseAlarms} false alarms.`);
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { count: { type: "string", default: "10000" }, seed: { type: "string", default: "1" } },
  });
  const tally = tamperWith(Number(values.count), Number(values.seed));
  print(verifyHonest(Math.max(500, Number(values.count) / 10), Number(values.seed), tally));
  process.exitCode = tally.wrong.length === 0 ? 0 : 1;
}
