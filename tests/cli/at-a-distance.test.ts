// Every command and every part of one that is done at a distance takes --server, as its help says.
import assert from "node:assert/strict";
import { test } from "node:test";
import { COMMANDS } from "../../src/cli/commands.ts";
import type { Command, Context } from "../../src/cli/shell/command.ts";
import { parseLine } from "../../src/cli/shell/parse.ts";

const SERVER = "http://127.0.0.1:9";
const REACHED = new Error("the store was asked");

/** Whatever is asked of it, it was reached. */
const reached: object = new Proxy(() => undefined, {
  get: (_, name) => (name === "then" ? undefined : reached),
  apply: () => {
    throw REACHED;
  },
});
const silent = new Proxy({}, { get: () => () => undefined }) as Context["terminal"];

const partsOf = ({ words: [first = ""] }: Command): readonly string[] =>
  first.includes("|") ? first.replaceAll(/[[\]<>]/g, "").split("|") : [];

const exampleOf = (word: string): string => (word.includes("|") ? (word.split("|")[0] ?? "") : "x");

async function refusalOf(command: Command, words: readonly string[]): Promise<string> {
  const values = new Map([["server", [SERVER]]]);
  const place = { folder: SERVER, hasStore: true, person: "person:ann", now: 0, json: true, full: false };
  const hp = reached as unknown as Context["hp"];
  try {
    await command.run({ terminal: silent, values, words, hp, ...place });
    return "";
  } catch (error) {
    return String((error as Error).message);
  }
}

const DISTANT = COMMANDS.filter(({ onlyHere, placeless }) => onlyHere === undefined && placeless !== true);

test("--server goes with every command that is done at a distance, and with every part of it", async () => {
  const tried: string[] = [];
  for (const command of DISTANT) {
    const parts = partsOf(command);
    for (const words of parts.length === 0
      ? [[]]
      : parts.map((part) => [part, "x"].slice(0, part === "list" ? 1 : 2))) {
      const line = `${command.name} ${words.join(" ")}`;
      assert.doesNotMatch(await refusalOf(command, words), /--server/, line);
      tried.push(line.trim());
    }
  }
  for (const line of ["keys list", "keys issue x", "people add x", "people list"])
    assert.ok(tried.includes(line), line);
});

test("the parser takes --server wherever help lists it", () => {
  for (const { name, words, flags } of DISTANT) {
    const needed = Object.entries(flags).flatMap(([flag, { required, value }]) =>
      required === true ? [`--${flag}`, ...(value === undefined ? [] : ["x"])] : [],
    );
    const said = words.filter((word) => !word.startsWith("[")).map(exampleOf);
    const line = [...name.split(" ").filter((word) => word !== ""), ...said, ...needed, "--server", SERVER];
    const parsed = parseLine(line, COMMANDS);
    assert.ok(parsed.kind === "run" && parsed.values.get("server")?.[0] === SERVER, name);
  }
});
