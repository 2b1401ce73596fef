/** What a policy's text may not be, so that reading it never takes long: the file is read again while the program runs. */
import { type Document, isScalar, visit } from "yaml";

/** Of the document as it is meant, with what anchors stand for written out. */
export const MOST_VALUES = 100_000;
export const DEEPEST = 100;

/** Brackets within brackets, wherever they stand: the parser takes its time over them. */
export function isTooDeep(text: string): boolean {
  let depth = 0;
  for (const character of text) {
    if (character === "[" || character === "{") depth += 1;
    else if (character === "]" || character === "}") depth -= 1;
    if (depth > DEEPEST) return true;
  }
  return false;
}

type Twice = { readonly at: number; readonly message: string };

/** The parser would compare every key with every other; a set does not. */
export function duplicateKeys(document: Document): readonly Twice[] {
  const found: Twice[] = [];
  visit(document, {
    Map(_, map) {
      const names = new Set<unknown>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        if (names.has(key.value))
          found.push({ at: key.range?.[0] ?? 0, message: `${String(key.value)} stands here twice` });
        names.add(key.value);
      }
    },
  });
  return found;
}

/** Counts as far as it has to. */
export function isHuge(value: unknown): boolean {
  const open = [value];
  for (let seen = 0; open.length > 0; seen++) {
    if (seen + open.length > MOST_VALUES) return true;
    const one = open.pop();
    if (typeof one === "object" && one !== null) for (const part of Object.values(one)) open.push(part);
  }
  return false;
}
