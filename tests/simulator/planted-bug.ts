/**
 * What a planted bug is: textual changes to functions, applied when a worker loads their files, never on the disk.
 *
 * A change names its function and not its file, so a function that moves takes its planted bugs along. Where a function
 * begins and ends is read from the indentation, which the formatter keeps: no line of text inside it starts further left.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export type Patch = {
  /** The function or the constant that has the text. */
  readonly in: string;
  readonly find: string;
  readonly replace: string;
};
export type Planted = {
  readonly name: string;
  readonly patches: readonly Patch[];
  /** Looked for only in seeds that have workflows. */
  readonly inFlows: boolean;
};

/** Text by path. */
export type Sources = ReadonlyMap<string, string>;

type Change = { readonly file: string; readonly from: number; readonly patch: Patch };

export const inside = (name: string, find: string, replace: string): Patch => ({ in: name, find, replace });

/** The program without its tests, by path below `root`. The simulator itself quotes what it patches. */
export function readSources(root: string): Sources {
  const names = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" });
  const files = names
    .map((name) => join("src", name))
    .filter((file) => /(?<!\.test)\.ts$/.test(file) && !file.startsWith(join("src", "testing")));
  return new Map(files.map((file) => [file, readFileSync(join(root, file), "utf8")]));
}

/** Where a function, or a constant, of this name begins and ends, as often as the text declares one. */
function declarations(text: string, name: string): readonly (readonly [number, number])[] {
  const begin = new RegExp(`^( *)(?:export )?(?:async )?(?:function\\*? ?|const )${name}\\b`, "gm");
  return [...text.matchAll(begin)].map(({ index, 0: line, 1: indent = "" }) => {
    const next = new RegExp(`\\n {0,${indent.length}}(?=[^\\s)}\\]])`, "g");
    next.lastIndex = index + line.length;
    return [index, next.exec(text)?.index ?? text.length] as const;
  });
}

function places(text: string, patch: Patch): readonly number[] {
  if (!text.includes(patch.find)) return [];
  return declarations(text, patch.in).flatMap(([from, to]) => {
    const found: number[] = [];
    for (let at = text.indexOf(patch.find, from); at !== -1; at = text.indexOf(patch.find, at + 1)) {
      if (at + patch.find.trimEnd().length > to) break;
      found.push(at);
    }
    return found;
  });
}

function resolve(planted: Planted, patch: Patch, sources: Sources): Change {
  const found = [...sources].flatMap(([file, text]) =>
    places(text, patch).map((from) => ({ file, from, patch })),
  );
  const [change] = found;
  if (change !== undefined && found.length === 1) return change;
  const where = found.map(({ file }) => file).join(", ");
  throw new Error(
    change === undefined
      ? `"${planted.name}" cannot be planted: no function "${patch.in}" has the text ${patch.find}`
      : `"${planted.name}" cannot be planted: the text occurs ${found.length} times in functions "${patch.in}" (${where}): ${patch.find}`,
  );
}

/** The files that a planted bug changes, as it has them. A text that is missing or ambiguous is an error. */
export function plant(planted: Planted, sources: Sources): Sources {
  const changed = new Map<string, string>();
  const changes = planted.patches.map((patch) => resolve(planted, patch, sources));
  // From the end of a file to its beginning: no change moves the text of the next one.
  for (const { file, from, patch } of changes.toSorted((one, other) => other.from - one.from)) {
    const text = changed.get(file) ?? sources.get(file) ?? "";
    changed.set(file, text.slice(0, from) + patch.replace + text.slice(from + patch.find.length));
  }
  return changed;
}
