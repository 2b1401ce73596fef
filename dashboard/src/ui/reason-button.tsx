/** A button whose deed wants a reason: it opens a question that says what will happen, and does it when a reason was given. */
import { type ReactNode, useState } from "react";
import { useDeed } from "../api/use-deed.ts";
import type { Subject } from "../live/touches.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { TextArea } from "./field.tsx";
import { Form } from "./form.tsx";
import type { IconName } from "./icon.tsx";
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
type Props = Asked & {
  readonly label: string;
  readonly title: string;
  readonly icon?: IconName;
  readonly className?: string;
};

function ReasonForm({
  says,
  submit,
  kind = "stop",
  touches,
  told,
  isOptional = false,
  does,
  onClose,
}: Asked & { readonly onClose: () => void }) {
  const [reason, setReason] = useState("");
  const onDone = () => {
    toast(told, kind === "stop" ? "hold" : "go");
    onClose();
  };
  const deed = useDeed({ does, touches, onDone });
  const given = reason.trim();
  return (
    <Form
      {...{ deed, submit, kind }}
      isReady={isOptional || given !== ""}
      onSubmit={() => deed.run(given)}
      onCancel={onClose}
    >
      <div className="text-soft">{says}</div>
      <TextArea
        label={isOptional ? "Reason (may be left out)" : "Reason"}
        hint="It stands in the journal, with your name."
        value={reason}
        onChange={(event) => setReason(event.target.value)}
      />
    </Form>
  );
}

export function ReasonButton({ label, title, icon, className, ...asked }: Props) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <Button
        size="small"
        onClick={() => setOpen(true)}
        {...(icon === undefined ? {} : { icon })}
        {...(className === undefined ? {} : { className })}
      >
        {label}
      </Button>
      <Dialog title={title} isOpen={isOpen} onClose={close}>
        <ReasonForm {...asked} onClose={close} />
      </Dialog>
    </>
  );
}
