/**
 * Values of which there may be many: the first of them, how many more there are, and all of them at a press.
 *
 * F1. Whatever is folded is told to `Folds`.
 * F2. However many there are, opening them is quick: those after the first few hundred are written as JSON.
 */
import { useMemo } from "react";
import { countText } from "../../format/amounts.ts";
import { ExactJson } from "./exact-json.tsx";
import { useFold } from "./folds.tsx";

const MOST = 50;
const MOST_OPEN = 500;

export type Many<Item> = {
  readonly shown: readonly Item[];
  readonly left: number;
  readonly rest: readonly Item[];
  readonly isOpen: boolean;
  readonly setOpen: (isOpen: boolean) => void;
};

export function useMany<Item>(items: readonly Item[], most = MOST): Many<Item> {
  const left = Math.max(0, items.length - most);
  const hidden = useMemo(
    () => (left === 0 ? 0 : JSON.stringify(items.slice(most)).length),
    [items, left, most],
  );
  const { isOpen, setOpen } = useFold(hidden);
  const shown = items.slice(0, isOpen ? MOST_OPEN : most);
  return { shown, left, rest: isOpen ? items.slice(MOST_OPEN) : [], isOpen, setOpen };
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
