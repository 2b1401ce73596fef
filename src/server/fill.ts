/** A page is full when it has as many rows as were asked for, or as many bytes as one answer carries. One row always fits. */
export const PAGE_BYTES = 4 * 1024 * 1024;

export type Filled<Row> = {
  readonly rows: readonly Row[];
  /** Whether it was full before the source was at its end. */
  readonly isCut: boolean;
};

const bytesOf = (row: unknown): number => Buffer.byteLength(JSON.stringify(row) ?? "");

/** Reads one row after the other, and none that it would not take but the one that shows that it is full. */
export async function filled<Row>(
  source: AsyncIterable<Row>,
  limit: number,
  weigh: (row: Row) => number = bytesOf,
): Promise<Filled<Row>> {
  const rows: Row[] = [];
  let bytes = 0;
  for await (const row of source) {
    bytes += weigh(row);
    if (rows.length >= limit || (rows.length > 0 && bytes > PAGE_BYTES)) return { rows, isCut: true };
    rows.push(row);
  }
  return { rows, isCut: false };
}
