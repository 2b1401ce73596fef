/** What differs: where, what stood there, and what stands there now. */
import { useMemo } from "react";
import type { Change } from "../../format/edits.ts";
import { type Json, pathText } from "../../format/json.ts";
import { isQuotedBeside } from "../../format/quoted.ts";
import { Strange } from "../../ui/strange.tsx";
import { Foldable } from "../../ui/values/foldable.tsx";
import { Rest, useMany } from "../../ui/values/many.tsx";

type SideProps = {
  readonly value: Json | undefined;
  readonly other: Json | undefined;
  readonly kind: "before" | "after";
};

function Side({ value, other, kind }: SideProps) {
  const isBefore = kind === "before";
  const look = isBefore ? "bg-stop-wash text-stop" : "bg-go-wash text-go";
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  const isQuoted = isQuotedBeside(value, other);
  return (
    <div className={`flex min-w-0 gap-2 rounded-small px-2 py-1 text-small ${look}`}>
      <span aria-hidden="true" className="font-semibold">
        {isBefore ? "−" : "+"}
      </span>
      <span className="sr-only">{kind}: </span>
      <div className="min-w-0 grow">
        {value === undefined ? (
          <em>not there</em>
        ) : (
          <Foldable text={text}>
            {(shown) => (
              <>
                {isQuoted ? "“" : ""}
                <Strange text={shown} as="lines" isProse={false} />
                {isQuoted ? "”" : ""}
              </>
            )}
          </Foldable>
        )}
      </div>
    </div>
  );
}

/** As the rest of very many is written. */
const asJson = ({ path, before, after }: Change): Json => ({
  at: pathText(path),
  ...(before === undefined ? {} : { before }),
  ...(after === undefined ? {} : { after }),
});

export function ChangesList({ changes }: { readonly changes: readonly Change[] }) {
  const many = useMany(useMemo(() => changes.map(asJson), [changes]));
  return (
    <div className="flex flex-col gap-3">
      <ul className="flex flex-col gap-3">
        {changes.slice(0, many.shown.length).map(({ path, before, after }) => (
          <li key={JSON.stringify(path)} className="flex flex-col gap-1">
            <span className="text-small font-semibold">
              {path.length === 0 ? "all of it" : <Strange text={pathText(path)} className="font-mono" />}
            </span>
            <Side value={before} other={after} kind="before" />
            <Side value={after} other={before} kind="after" />
          </li>
        ))}
      </ul>
      <Rest many={many} what="changes" asJson={(rest) => rest} />
    </div>
  );
}
