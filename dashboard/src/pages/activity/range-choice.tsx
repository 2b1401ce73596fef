import { Link } from "@tanstack/react-router";

export const RANGES = [7, 30, 90] as const;
export type Range = (typeof RANGES)[number];

export const rangeOf = (text: string | undefined): Range =>
  RANGES.find((range) => String(range) === text) ?? 30;

export function RangeChoice({ range }: { readonly range: Range }) {
  return (
    <nav aria-label="Over how many days" className="flex rounded-base border border-edge bg-surface p-0.5">
      {RANGES.map((days) => (
        <Link
          key={days}
          to="/activity"
          search={{ days: String(days) }}
          aria-current={days === range ? "true" : undefined}
          className="flex min-h-10 items-center rounded-small px-3 text-small text-soft hover:text-ink aria-[current=true]:bg-ink aria-[current=true]:font-semibold aria-[current=true]:text-surface"
        >
          {days} days
        </Link>
      ))}
    </nav>
  );
}
