/** A note, a reason or a question that is being written: kept while somebody looks elsewhere, until it is sent or taken out. */
import { useState } from "react";
import type { Approval } from "../../api/approvals.ts";
import { keepText, keptText } from "./kept-drafts.ts";

type Of = Pick<Approval, "request_id" | "binding">;

export function useKeptText(of: Of, what: "note" | "reason" | "comment") {
  const [text, setText] = useState(() => keptText(of, what));
  const write = (next: string) => {
    keepText(of, what, next);
    setText(next);
  };
  return [text, write] as const;
}
