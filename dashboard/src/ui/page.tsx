import { type ReactNode, useEffect } from "react";
import { visible } from "../../../src/kernel/text.ts";
import { Strange } from "./strange.tsx";

type Props = {
  /** May be a name that somebody else gave. */
  readonly title: string;
  /** What the page is for, in a sentence. */
  readonly lead?: ReactNode;
  readonly aside?: ReactNode;
  readonly children: ReactNode;
  /** For pages whose heading stands in their own content. */
  readonly isBare?: boolean;
};

export function Page({ title, lead, aside, children, isBare = false }: Props) {
  useEffect(() => {
    document.title = `${visible(title)} · Holdpoint`;
  }, [title]);
  return (
    <div className="mx-auto flex w-full max-w-6xl flex-col gap-5 px-4 py-5 sm:px-6 sm:py-7">
      {isBare ? null : (
        <header className="flex flex-wrap items-end justify-between gap-3">
          <div className="min-w-0">
            <h1 className="text-title font-semibold tracking-tight">
              <Strange text={title} />
            </h1>
            {lead === undefined ? null : <p className="mt-1 max-w-prose text-soft">{lead}</p>}
          </div>
          {aside}
        </header>
      )}
      {children}
    </div>
  );
}
