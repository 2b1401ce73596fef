/** Which of those that wait comes first: what runs out soonest, then what waits longest. */
type Waiting = { readonly created_at: string; readonly decide_by: string | null };

export function nearestFirst<Row extends Waiting>(rows: readonly Row[]): readonly Row[] {
  const end = ({ decide_by }: Waiting) =>
    decide_by === null ? Number.POSITIVE_INFINITY : Date.parse(decide_by);
  return [...rows].sort((one, other) => {
    const by = end(one) - end(other);
    return by !== 0 && !Number.isNaN(by) ? by : Date.parse(one.created_at) - Date.parse(other.created_at);
  });
}
