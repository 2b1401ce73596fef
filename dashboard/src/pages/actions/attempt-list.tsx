import { Unfolding } from "../../ui/brief.tsx";
import { Principals } from "../../ui/principals.tsx";
import { When } from "../../ui/when.tsx";
import type { Attempt } from "./effect-attempts.ts";

export function AttemptList({ attempts }: { readonly attempts: readonly Attempt[] }) {
  return (
    <ol className="flex flex-col gap-3 text-small">
      {attempts.map(({ words, detail, by, at, seq }) => (
        <li key={seq} className="flex gap-3">
          <span aria-hidden="true" className="mt-1.5 size-2 shrink-0 rounded-full bg-edge" />
          <div className="min-w-0">
            <span className="font-semibold">{words}</span>
            <span className="text-faint">
              , <When at={at} />
            </span>
            {by === "" && detail === "" ? null : (
              <div className="text-soft">
                <Principals of={[by]} />
                {by === "" || detail === "" ? null : ": "}
                <Unfolding text={detail} />
              </div>
            )}
          </div>
        </li>
      ))}
    </ol>
  );
}
