/** A button whose deed wants a reason: it opens a question that says what will happen, and does it when a reason was given. */
import type { ComponentProps, ReactNode } from "react";
import { useDeed } from "../api/use-deed.ts";
import type { Subject } from "../live/touches.ts";
import { DialogButton, type Dialogue } from "./dialog-button.tsx";
import { ReasonForm } from "./reason-form.tsx";
import { toast } from "./toaster.tsx";

type Asked = {
  /** What happens then, and what does not. */
  readonly says: ReactNode;
  readonly submit: string;
  readonly kind?: "main" | "go" | "stop";
  readonly touches: Subject;
  /** Told when it was done. */
  readonly told: string;
  readonly isOptional?: boolean;
  readonly does: (reason: string) => Promise<unknown>;
};
type Question = Asked & Pick<Dialogue, "onClose">;
type Props = Asked & Pick<ComponentProps<typeof DialogButton>, "label" | "title" | "icon" | "className">;

function AskReason({ says, kind = "stop", touches, told, does, onClose, ...form }: Question) {
  const onDone = () => {
    toast(told, kind === "stop" ? "hold" : "go");
    onClose();
  };
  const deed = useDeed({ does, touches, onDone });
  return (
    <ReasonForm {...form} {...{ deed, kind, onClose }}>
      <div className="text-soft">{says}</div>
    </ReasonForm>
  );
}

export function ReasonButton({ says, submit, kind, touches, told, isOptional, does, ...button }: Props) {
  const asked = { says, submit, touches, told, does };
  const more = { ...(kind && { kind }), ...(isOptional && { isOptional }) };
  return (
    <DialogButton {...button}>
      {({ onClose }) => <AskReason {...asked} {...more} onClose={onClose} />}
    </DialogButton>
  );
}
