/** What is done with a reason: the journal keeps it, so it is asked for in the same words everywhere. */
import { type ReactNode, useState } from "react";
import type { Deed } from "../api/use-deed.ts";
import { TextArea } from "./field.tsx";
import { Form } from "./form.tsx";

type Props = {
  readonly deed: Deed<string>;
  readonly submit: string;
  readonly kind?: "main" | "go" | "stop";
  readonly onClose: () => void;
  readonly label?: string;
  readonly hint?: string;
  readonly isOptional?: boolean;
  /** What happens then, and whatever else is to be filled in. */
  readonly children?: ReactNode;
};

const HINT = "It stands in the journal, with your name.";

export function ReasonForm({ label = "Reason", hint = HINT, isOptional = false, children, ...form }: Props) {
  const { deed, submit, kind = "main", onClose } = form;
  const [reason, setReason] = useState("");
  const given = reason.trim();
  return (
    <Form
      {...{ deed, submit, kind }}
      isReady={isOptional || given !== ""}
      onSubmit={() => deed.run(given)}
      onCancel={onClose}
      cancel="Leave it"
    >
      {children}
      <TextArea
        label={isOptional ? `${label} (may be left out)` : label}
        hint={hint}
        required={!isOptional}
        value={reason}
        onChange={(event) => setReason(event.target.value)}
      />
    </Form>
  );
}
