import { useState } from "react";
import { may, useSession } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { OnceDialog } from "../../ui/once-dialog.tsx";
import { IssueKey } from "./issue-key.tsx";
import type { KeyForm } from "./key-form.ts";

type Props = { readonly first: KeyForm; readonly isSmall?: boolean };

/** Where one may: a button that opens the form of a key. */
export function IssueButton({ first, isSmall = false }: Props) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  if (!may(useSession(), "keys:write")) return null;
  return (
    <>
      <Button
        kind={isSmall ? "plain" : "main"}
        size={isSmall ? "small" : "base"}
        icon="key"
        onClick={() => setOpen(true)}
      >
        {isSmall ? "Issue another" : "Issue a key"}
      </Button>
      <OnceDialog title="Issue a key" isOpen={isOpen} onClose={close}>
        {(show) => <IssueKey first={first} onShow={show} onClose={close} />}
      </OnceDialog>
    </>
  );
}
