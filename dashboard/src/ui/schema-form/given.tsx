/** What was suggested, to be read: a box shows only a part of a long text, and no hidden character. */
import { isObject, type Json } from "../../format/json.ts";
import { AnyValue } from "../values/value-view.tsx";

const isNothing = (value: Json): boolean =>
  value === null || (isObject(value) && Object.keys(value).length === 0);

export function Given({ value }: { readonly value: Json }) {
  if (isNothing(value)) return null;
  return (
    <section aria-labelledby="given" className="mb-5 border-b border-line pb-4">
      <h3 id="given" className="mb-1 text-small font-semibold text-soft">
        What the program suggests
      </h3>
      <AnyValue value={value} />
    </section>
  );
}
