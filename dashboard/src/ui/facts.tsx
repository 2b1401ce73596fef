import type { ReactNode } from "react";

export type Fact = { readonly name: string; readonly value: ReactNode };

/** Names and values, side by side where there is room. */
export function Facts({ facts }: { readonly facts: readonly (Fact | null)[] }) {
  return (
    <dl className="grid grid-cols-1 gap-x-6 gap-y-2 text-small sm:grid-cols-[max-content_minmax(0,1fr)]">
      {facts.map((fact) =>
        fact === null ? null : (
          <div key={fact.name} className="contents">
            <dt className="text-faint">{fact.name}</dt>
            <dd className="min-w-0 max-sm:mb-1">{fact.value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}
