/** A button that opens a question in front of the page. */
import { type ComponentProps, type ReactNode, useState } from "react";
import { Button } from "./button.tsx";
import { OnceDialog, type Shown } from "./once-dialog.tsx";

export type Dialogue = {
  readonly onClose: () => void;
  /** Shows in its place what is shown once. */
  readonly onShow: (shown: Shown) => void;
};
type Props = Omit<ComponentProps<typeof Button>, "children" | "onClick" | "title"> & {
  readonly label: string;
  readonly title: string;
  readonly children: (dialogue: Dialogue) => ReactNode;
};

export function DialogButton({ label, title, children, ...button }: Props) {
  const [isOpen, setOpen] = useState(false);
  const onClose = () => setOpen(false);
  return (
    <>
      <Button size="small" {...button} onClick={() => setOpen(true)}>
        {label}
      </Button>
      <OnceDialog title={title} isOpen={isOpen} onClose={onClose}>
        {(onShow) => children({ onClose, onShow })}
      </OnceDialog>
    </>
  );
}
