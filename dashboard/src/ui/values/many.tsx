/**
 * Values of which there may be many: the first of them, how many more there are, and all of them at a press.
 *
 * F1. Whatever is folded is told to `Folds`.
 * F2. However many there are, opening them is quick: those after the first few hundred are written as JSON, and so is what
 *     lies deeper than all that the panel may show (share.tsx).
 */
import { useMemo } from "react";
import { allotted, sizeOf } from "../../format/allotted.ts";
import { countText } from "../../format/amounts.ts";
import type { Json } from "../../format/json.ts";
import { ExactJson } from "./exact-json.tsx";
import { useFold } from "./folds.tsx";
import { useShare } from "./share.tsx";

const MOST = 50;
const MOST_OPEN = 500;

export type Many<Item> = {
  readonly shown: readonly Item[];
  /** The parts that each of those may show. */
  readonly shares: readonly number[];
  readonly left: number;
  readonly rest: readonly Item[];
  readonly isOpen: boolean;
  readonly setOpen: (isOpen: boolean) => void;
};

/** What lies in a part: of a field, in its value. */
const within = (part: Json | readonly [string, Json], isField: boolean): number =>
  sizeOf(isField ? (part as readonly [string, Json])[1] : (part as Json));

export function useMany<Item extends Json | readonly [string, Json]>(
  items: readonly Item[],
  { most = MOST, areFields = false } = {},
): Many<Item> {
  const share = useShare();
  const shares = useMemo(() => {
    const sizes = items.map((item) => within(item, areFields));
    return allotted(sizes, share - 1).slice(0, MOST_OPEN);
  }, [items, share, areFields]);
  const first = Math.min(most, shares.length);
  const left = items.length - first;
  const hidden = useMemo(
    () => (left === 0 ? 0 : JSON.stringify(items.slice(first)).length),
    [items, left, first],
  );
  const { isOpen, setOpen } = useFold(hidden);
  const shown = items.slice(0, isOpen ? shares.length : first);
  return { shown, shares, left, rest: isOpen ? items.slice(shares.length) : [], isOpen, setOpen };
}

type Props<Item> = {
  readonly many: Many<Item>;
  readonly what: string;
  readonly asJson: (rest: readonly Item[]) => Parameters<typeof ExactJson>[0]["value"];
};

export function Rest<Item>({ many: { left, rest, isOpen, setOpen }, what, asJson }: Props<Item>) {
  if (left === 0) return null;
  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      {rest.length === 0 ? null : (
        <>
          <p className="text-small text-soft">
            {countText(rest.length)} {what} after these, as JSON:
          </p>
          <ExactJson value={asJson(rest)} label={`The other ${what}, exact JSON`} />
        </>
      )}
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="min-h-9 w-full rounded-base border border-dashed border-edge bg-sunken px-3 text-small font-semibold text-soft hover:text-ink"
      >
        {isOpen ? "Fold again" : `${countText(left)} ${what} more: show all`}
      </button>
    </div>
  );
}
