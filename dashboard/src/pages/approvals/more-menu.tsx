/** What is done more seldom than yes or no. */
import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Icon, type IconName } from "../../ui/icon.tsx";
import type { Asking, Desk } from "./use-desk.ts";

type Entry = { readonly title: string; readonly icon: IconName; readonly act: () => void };
type Props = { readonly desk: Desk; readonly onAsk: () => void; readonly className?: string };

function entriesOf({ approval, card, setAsking }: Desk, onAsk: () => void): readonly Entry[] {
  const ask = (title: string, icon: IconName, asking: Asking): Entry => ({
    title,
    icon,
    act: () => setAsking(asking),
  });
  const isPending = approval.status === "pending";
  const isGiven = approval.status === "approved" || approval.status === "modified";
  return [
    ...(isPending ? [{ title: "Ask for more", icon: "comment", act: onAsk } as const] : []),
    ...(isPending && approval.decide_by !== null ? [ask("Give more time", "clock", "extend")] : []),
    ...(isPending && card.you.may_decide ? [ask("Have somebody else decide", "person", "delegate")] : []),
    ...(isPending && approval.delegations.length > 0
      ? [ask("Decide yourself again", "undo", "take-back")]
      : []),
    ...(isPending ? [ask("Take the question back", "cross", "cancel")] : []),
    ...(isGiven ? [ask("Take the decision back", "undo", "revoke")] : []),
  ];
}

export function MoreMenu({ desk, onAsk, className = "" }: Props) {
  const [isOpen, setOpen] = useState(false);
  const entries = desk.hasScope ? entriesOf(desk, onAsk) : [];
  if (entries.length === 0) return null;
  return (
    <>
      <Button
        icon="more"
        aria-label="More to do with it"
        className={`px-3! ${className}`}
        onClick={() => setOpen(true)}
      />
      <Dialog title="More to do with it" isOpen={isOpen} onClose={() => setOpen(false)}>
        <ul className="-m-2 flex flex-col">
          {entries.map(({ title, icon, act }) => (
            <li key={title}>
              <button
                type="button"
                className="flex min-h-12 w-full items-center gap-3 rounded-base px-3 text-left hover:bg-sunken"
                onClick={() => {
                  setOpen(false);
                  act();
                }}
              >
                <Icon name={icon} className="size-5 text-soft" />
                {title}
              </button>
            </li>
          ))}
        </ul>
      </Dialog>
    </>
  );
}
