/** A value whose readable form failed: it counts as folded away until its exact JSON was opened. */
import { useMemo } from "react";
import type { Json } from "../../format/json.ts";
import { Icon } from "../icon.tsx";
import { ExactJson } from "./exact-json.tsx";
import { useFold } from "./folds.tsx";

export function Unshown({ value }: { readonly value: Json }) {
  const size = useMemo(() => JSON.stringify(value).length, [value]);
  const { isOpen, setOpen } = useFold(size);
  return (
    <div className="flex flex-col gap-3">
      <p
        role="alert"
        className="flex items-start gap-2 rounded-base bg-stop-wash px-3 py-2 text-small text-stop"
      >
        <Icon name="warn" className="mt-0.5 size-4" />
        <span className="grow">This part could not be shown: look at the exact JSON.</span>
        <button
          type="button"
          aria-expanded={isOpen}
          className="min-h-8 shrink-0 px-1 font-semibold underline"
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? "Fold again" : "Show it"}
        </button>
      </p>
      {isOpen ? <ExactJson value={value} label="What could not be shown, exact JSON" /> : null}
    </div>
  );
}
