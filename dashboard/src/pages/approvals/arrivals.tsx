import { countText } from "../../format/amounts.ts";
import { Icon } from "../../ui/icon.tsx";
import { MOST_TOLD } from "./use-arrivals.ts";

type Props = { readonly told: number; readonly onShow: () => void };

/** Stands over the list, so that nothing moves when something comes. */
export function Arrivals({ told, onShow }: Props) {
  const count = told > MOST_TOLD ? `More than ${countText(MOST_TOLD)}` : countText(told);
  return (
    <div role="status" className="sticky top-16 z-10 -mb-5 flex h-0 justify-center md:top-3">
      {told === 0 ? null : (
        <button
          type="button"
          onClick={onShow}
          className="flex h-11 items-center gap-2 rounded-full border border-ink bg-surface px-4 text-small font-semibold shadow-lg hover:bg-sunken"
        >
          <Icon name="bell" className="size-4 text-hold" />
          {count} new, show {told === 1 ? "it" : "them"}
        </button>
      )}
    </div>
  );
}
