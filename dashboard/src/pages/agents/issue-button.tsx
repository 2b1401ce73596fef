import { may, useSession } from "../../api/session.ts";
import { DialogButton } from "../../ui/dialog-button.tsx";
import { IssueKey } from "./issue-key.tsx";
import type { KeyForm } from "./key-form.ts";

type Props = { readonly first: KeyForm; readonly isSmall?: boolean };

/** Where one may: a button that opens the form of a key. */
export function IssueButton({ first, isSmall = false }: Props) {
  if (!may(useSession(), "keys:write")) return null;
  return (
    <DialogButton
      label={isSmall ? "Issue another" : "Issue a key"}
      kind={isSmall ? "plain" : "main"}
      size={isSmall ? "small" : "base"}
      icon="key"
      title="Issue a key"
    >
      {(dialogue) => <IssueKey first={first} {...dialogue} />}
    </DialogButton>
  );
}
