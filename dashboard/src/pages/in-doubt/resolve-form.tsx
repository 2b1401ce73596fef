/** A person's word on what nobody could prove, with what follows from it. */
import { useState } from "react";
import { client } from "../../api/client.ts";
import { byOf, useSession } from "../../api/session.ts";
import { useDeed } from "../../api/use-deed.ts";
import { TextField } from "../../ui/field.tsx";
import { ReasonForm } from "../../ui/reason-form.tsx";
import { toast } from "../../ui/toaster.tsx";
import { FOLLOWS, type Word } from "./doubt-words.ts";

type Props = { readonly effect: string; readonly word: Word; readonly onClose: () => void };

export function ResolveForm({ effect, word, onClose }: Props) {
  const session = useSession();
  const [evidence, setEvidence] = useState("");
  const { title, lines } = FOLLOWS[word];
  const found = evidence.trim() === "" ? {} : { evidence: evidence.trim() };
  const resolve = useDeed({
    does: (reason: string) =>
      client.actions.resolve(effect, { status: word, reason, ...found, ...byOf(session) }),
    touches: ["actions", "below", "attention", "workflows"],
    onDone: () => {
      toast(`Recorded: ${title.toLowerCase()}`);
      onClose();
    },
  });
  return (
    <ReasonForm
      deed={resolve}
      submit={`Record: ${title.toLowerCase()}`}
      kind={word === "applied" ? "go" : "stop"}
      onClose={onClose}
      label="How do you know?"
      hint="For whoever asks later. It stands in the journal, with your name."
    >
      <div className="rounded-base bg-sunken px-4 py-3 text-small">
        <p className="font-semibold">What follows</p>
        <ul className="mt-1 list-disc pl-5 text-soft">
          {lines.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      </div>
      <TextField
        label="What you found (optional)"
        hint="The receiver's own number, a line of its log, a link in words."
        value={evidence}
        onChange={(event) => setEvidence(event.target.value)}
      />
    </ReasonForm>
  );
}
