/** The form of a change, with what was written in it before somebody looked elsewhere. */
import { useEffect, useState } from "react";
import { isSame, type Json } from "../../format/json.ts";
import { type FormState, useFormState } from "../../ui/schema-form/form-state.ts";
import { toast } from "../../ui/toaster.tsx";
import { forgetDraft, keepDraft, keptDraft } from "./kept-drafts.ts";
import type { Desk } from "./use-desk.ts";

export type KeptForm = {
  readonly form: FormState;
  /** Something stands there that nobody proposed. */
  readonly isWritten: boolean;
  /** It was written before somebody looked elsewhere. */
  readonly isKept: boolean;
  readonly beginAnew: () => void;
};

const foundOf = (approval: Desk["approval"]): { readonly value: Json } | null => {
  const kept = keptDraft(approval);
  return kept === "changed" ? null : kept;
};

/** Whoever closes the page is asked by the browser first. */
function useKeeping({ approval, seen: { before } }: Desk, value: Json, isWriting: boolean): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, for whoever comes back.
  useEffect(() => {
    if (keptDraft(approval) === "changed")
      toast("It has changed since you wrote: what you had written was put away.");
  }, []);
  useEffect(() => {
    if (!isWriting) return forgetDraft(before);
    keepDraft(before, value);
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", ask);
    return () => window.removeEventListener("beforeunload", ask);
  }, [before, value, isWriting]);
}

export function useKeptForm(desk: Desk, first: Json): KeptForm {
  const { approval, isEditing, mayApprove } = desk;
  const [kept, setKept] = useState(() => foundOf(approval));
  const form = useFormState(kept === null ? first : kept.value);
  const isWritten = !isSame(first, form.value);
  const isOpen = isEditing || (approval.about === "question" && mayApprove);
  useKeeping(desk, form.value, isWritten && isOpen);
  const beginAnew = () => {
    setKept(null);
    form.reset(first);
  };
  return { form, isWritten, isKept: kept !== null && isSame(kept.value, form.value), beginAnew };
}
