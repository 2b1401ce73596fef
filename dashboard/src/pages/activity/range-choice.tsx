import { useNavigate } from "@tanstack/react-router";
import { Segments } from "../../ui/segments.tsx";

export const RANGES = [7, 30, 90] as const;
export type Range = (typeof RANGES)[number];

export const rangeOf = (text: string | undefined): Range =>
  RANGES.find((range) => String(range) === text) ?? 30;

export function RangeChoice({ range }: { readonly range: Range }) {
  const navigate = useNavigate();
  return (
    <Segments
      label="Over how many days"
      value={String(range)}
      options={RANGES.map((days) => ({ id: String(days), title: `${days} days` }))}
      onChange={(days) => void navigate({ to: "/activity", search: { days }, resetScroll: false })}
    />
  );
}
