/** Exactly what stands there, as JSON: whatever cannot be seen is written out. */
import { useMemo } from "react";
import { sizeOf } from "../../format/allotted.ts";
import type { Json } from "../../format/json.ts";
import { Strange } from "../strange.tsx";

/** What has more parts stands on lines that are filled: a line for each would take a browser long. */
const MOST_INDENTED = 5_000;

export function ExactJson({ value, label }: { readonly value: Json; readonly label: string }) {
  const text = useMemo(
    () => JSON.stringify(value, null, sizeOf(value) > MOST_INDENTED ? undefined : 2),
    [value],
  );
  return (
    <section aria-label={label} className="rounded-base border border-line bg-ground p-3">
      <code className="font-mono text-small">
        <Strange text={text} as="json" />
      </code>
    </section>
  );
}
