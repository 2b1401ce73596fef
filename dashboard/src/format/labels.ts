/** A field's name as people read it: `invoiceId` and `invoice_id` are "invoice id". A strange one stays as it is. */
const PLAIN = /^[A-Za-z][A-Za-z0-9]*([_-][A-Za-z0-9]+)*$/;
const SHORT = new Set([
  "id",
  "url",
  "uri",
  "sql",
  "ip",
  "iban",
  "vat",
  "api",
  "cpu",
  "usd",
  "eur",
  "gbp",
  "html",
  "json",
  "pdf",
]);

export function labelOf(name: string): string {
  if (!PLAIN.test(name)) return name;
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll(/[_-]/g, " ")
    .toLowerCase()
    .split(" ");
  const text = words.map((word) => (SHORT.has(word) ? word.toUpperCase() : word)).join(" ");
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** The labels of fields that stand together: where two would read alike, each keeps its own name. */
export function labelsOf(names: readonly string[]): ReadonlyMap<string, string> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(labelOf(name), (counts.get(labelOf(name)) ?? 0) + 1);
  return new Map(names.map((name) => [name, counts.get(labelOf(name)) === 1 ? labelOf(name) : name]));
}
