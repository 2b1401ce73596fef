/** Exactly what stands there, as JSON: whatever cannot be seen is written out. */
import type { Json } from "../../format/json.ts";
import { Strange } from "../strange.tsx";

export function ExactJson({ value, label }: { readonly value: Json; readonly label: string }) {
  return (
    <section aria-label={label} className="rounded-base border border-line bg-ground p-3">
      <code className="font-mono text-small">
        <Strange text={JSON.stringify(value, null, 2)} as="json" />
      </code>
    </section>
  );
}
