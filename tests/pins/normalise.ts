/**
 * Replaces in a text all that differs between two runs of the same scenario: ids, times, digests, keys and addresses. An id
 * becomes `<act_1>`, numbered within the text, unless the scenario names it.
 */

/** Literal texts of a run and the placeholders that stand for them, such as the folder of a store. */
export type Names = { readonly [text: string]: string };

const ID =
  /\b(act|apr|eff|epo|sec|non|wf|snap|alr|grt|int|key|lgn|ses|end|msg|trl|job)_([0-9A-HJKMNP-TV-Z]{12,26})(?![0-9A-Z])/g;

/** In this order: a longer form stands before the one that it contains. */
const FORMS: readonly (readonly [RegExp, string])[] = [
  [/\beyJ[\w-]{10,}\.[\w-]+\.[\w-]+/g, "<jws>"],
  [/\bhpk_[\w-]{60,}/g, "<text of a key>"],
  [/\bhpl_[\w-]{60,}/g, "<text of a login link>"],
  [/\bwhsec_[\w+/]{30,}=*/g, "<secret of a webhook>"],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, "<uuid>"],
  [/\b[0-9a-f]{64}\b/g, "<sha256>"],
  [/\b[0-9a-f]{32}\b/g, "<hex32>"],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, "<time>"],
  [/\b\d{4}-\d\d-\d\d \d\d:\d\dZ/g, "<minute>"],
  [/\b1[5-9]\d{11}(?:\.\d+)?\b/g, "1800000000000"],
  [/(?<=\s)\d\d:\d\d:\d\d(?=\s)/g, "<clock>"],
  [/(?<=--binding )[0-9a-f]{12}\b/g, "<digits>"],
  // The background writes, and a process that runs seals now and then.
  [/(?<=entries +)\d+ in \d+(?= streams)/g, "<n> in <n>"],
  [/(?<=sealed +)\d+ entries; \d+(?= are not)/g, "<n> entries; <n>"],
  [/(?<=seals +)\d+(?=, the last)|(?<=Exported )\d+(?= lines)/g, "<n>"],
  [/"(lastSeal|witness)":\{"n":\d+/g, '"$1":{"n":0'],
  [/(?<=(?:last seal|seen here) +)\d+/g, "<n>"],
  // Between the entries of requests stand those that the background wrote by then.
  [/"position":( ?)\d+/g, '"position":$10'],
  // How well ids compress, and which process of which machine it was.
  [/"(compressedBytes|compressed_bytes|compressed_size_bytes)":( ?)\d+/g, '"$1":$20'],
  [/"process":( ?)"[^"]*\/\d+"/g, '"process":$1"<machine>/<process>"'],
  [/(?<=\t| {2})[A-Za-z][\w.-]*\/\d+$/gm, "<machine>/<process>"],
];

/** Each distinct id of a kind gets the next number of that kind. A table shows only the beginning of an id. */
function numberIds(text: string, names: Names): string {
  const numbers = new Map<string, number>();
  const next = new Map<string, number>();
  return text.replace(ID, (shown, kind: string) => {
    const named = Object.keys(names).find((literal) => literal.startsWith(shown));
    if (named !== undefined) return names[named] ?? shown;
    const id = [...numbers.keys()].find((one) => one.startsWith(shown)) ?? shown;
    const number = numbers.get(id) ?? (next.get(kind) ?? 0) + 1;
    if (!numbers.has(id)) next.set(kind, number);
    numbers.set(id, number);
    return `<${kind}_${number}>`;
  });
}

export function normalise(text: string, names: Names = {}): string {
  const known = Object.entries(names).toSorted(([a], [b]) => b.length - a.length);
  const named = known.reduce((said, [literal, name]) => said.replaceAll(literal, name), text);
  return FORMS.reduce((said, [form, name]) => said.replace(form, name), numberIds(named, names));
}
