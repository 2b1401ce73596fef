/** The end of every dialog that does something: why, and the button that does it. */
import { type ReactNode, useState } from "react";
import { Button } from "./button.tsx";
import { TextArea } from "./field.tsx";
import { Failure } from "./states.tsx";

type Props = {
  readonly act: ReactNode;
  readonly kind?: "stop" | "go" | "main";
  readonly isBusy: boolean;
  readonly error: unknown;
  readonly onSubmit: (reason: string) => void;
  readonly onClose: () => void;
  readonly label?: string;
  readonly hint?: string;
  /** More to fill in, above the reason. */
  readonly children?: ReactNode;
};

export function ReasonForm(props: Props) {
  const { act, kind = "main", isBusy, error, onSubmit, onClose, children } = props;
  const { label = "Why", hint = "It is kept in the journal with your name." } = props;
  const [reason, setReason] = useState("");
  const submit = (event: { preventDefault: () => void }) => {
    event.preventDefault();
    if (reason.trim() !== "") onSubmit(reason.trim());
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      {children}
      <TextArea
        label={label}
        hint={hint}
        required
        value={reason}
        onChange={(event) => setReason(event.target.value)}
      />
      {error === null || error === undefined ? null : <Failure error={error} />}
      <div className="flex flex-wrap justify-end gap-2">
        <Button kind="quiet" onClick={onClose}>
          Leave it
        </Button>
        <Button type="submit" kind={kind} isBusy={isBusy} disabled={reason.trim() === ""}>
          {act}
        </Button>
      </div>
    </form>
  );
}
