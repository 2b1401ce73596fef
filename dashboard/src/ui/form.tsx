/** What is filled in and sent: by Enter too, with what went wrong beside the button that sends it. */
import type { ReactNode } from "react";
import type { DeedState } from "../api/use-deed.ts";
import { Button } from "./button.tsx";
import { Failure } from "./states.tsx";

type Props = {
  readonly deed: DeedState;
  readonly submit: string;
  readonly kind?: "main" | "go" | "stop";
  /** False while something is still missing. */
  readonly isReady?: boolean;
  readonly onSubmit: () => void;
  readonly onCancel?: () => void;
  /** How one gets out without it. */
  readonly cancel?: string;
  readonly children: ReactNode;
};

export function Form({ deed, submit, kind = "main", isReady = true, ...form }: Props) {
  const { onSubmit, onCancel, cancel = "Cancel", children } = form;
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady && !deed.isBusy) onSubmit();
      }}
    >
      {children}
      {deed.error === undefined ? null : <Failure error={deed.error} />}
      <div className="flex flex-wrap justify-end gap-2">
        {onCancel === undefined ? null : <Button onClick={onCancel}>{cancel}</Button>}
        <Button type="submit" kind={kind} isBusy={deed.isBusy} disabled={!isReady}>
          {submit}
        </Button>
      </div>
    </form>
  );
}
