/** Words that go with a yes: for those who look at it later. A no has its reason. */
import { useState } from "react";
import { TextArea } from "../../ui/field.tsx";
import type { Desk } from "./use-desk.ts";

export function NoteField({ desk: { note, setNote, mayApprove } }: { readonly desk: Desk }) {
  // Open from the start where something stands in it; from then on it is theirs to open and close.
  const [wasWritten] = useState(note !== "");
  if (!mayApprove) return null;
  return (
    <details open={wasWritten}>
      <summary className="min-h-8 cursor-pointer text-small font-semibold text-soft">Add a note</summary>
      <TextArea
        label="Note"
        hint="Kept with your approval."
        rows={2}
        maxLength={10_000}
        value={note}
        onChange={({ target }) => setNote(target.value)}
      />
    </details>
  );
}
