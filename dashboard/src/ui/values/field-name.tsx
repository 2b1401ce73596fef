/** The name of a field. It is a stranger's too, and may be as long as they like. */
import { countText } from "../../format/amounts.ts";
import { LookAlike } from "../look-alike.tsx";
import { Strange } from "../strange.tsx";
import { useFold } from "./folds.tsx";

const MOST = 200;

export function FieldName({ label }: { readonly label: string }) {
  const left = Math.max(0, label.length - MOST);
  const { isOpen, setOpen } = useFold(left);
  if (label === "") return <em>no name</em>;
  if (left === 0)
    return (
      <>
        <Strange text={label} />
        <LookAlike name={label} />
      </>
    );
  return (
    <>
      <Strange text={isOpen ? label : label.slice(0, MOST).toWellFormed()} />
      <LookAlike name={label} />{" "}
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="min-h-8 px-1 font-semibold text-soft underline hover:text-ink"
      >
        {isOpen ? "Fold again" : `${countText(left)} characters more: show all`}
      </button>
    </>
  );
}
