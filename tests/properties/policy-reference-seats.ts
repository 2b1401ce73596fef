/** Who can sit where, by trying: each seat of each stage is taken by somebody who has none. */
export type Seats = { readonly from?: readonly string[]; readonly quorum?: number };

function seated(seats: readonly (readonly string[])[], taken: readonly string[]): boolean {
  const [first, ...rest] = seats;
  if (first === undefined) return true;
  return first.some((who) => !taken.includes(who) && seated(rest, [...taken, who]));
}

/** Where anybody may decide there is always somebody. */
export function canSit(stages: readonly Seats[], out: readonly string[]): boolean {
  const seats = stages.flatMap(({ from, quorum = 1 }) => {
    if (from === undefined) return [];
    return Array.from({ length: quorum }, () => from.filter((who) => !out.includes(who)));
  });
  return seated(seats, []);
}
