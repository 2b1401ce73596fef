/** What is done more seldom than yes or no. */
import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Icon, type IconName } from "../../ui/icon.tsx";
import type { Asking, Desk, Move } from "./use-desk.ts";

type Entry = { readonly title: string; readonly icon: IconName; readonly act: () => void };
type Props = { readonly desk: Desk; readonly onAsk: () => void; readonly className?: string };

const ASKED: readonly (readonly [Move, string, IconName, Asking])[] = [
  ["extend", "Give more time", "clock", "extend"],
  ["delegate", "Have somebody else decide", "person", "delegate"],
  ["take_back", "Decide yourself again", "undo", "take-back"],
  ["cancel", "Take the question back", "cross", "cancel"],
  ["revoke", "Take the decision back", "undo", "revoke"],
];

function entriesOf({ can, setAsking }: Desk, onAsk: () => void): readonly Entry[] {
  const asked = ASKED.filter(([move]) => can(move)).map(([, title, icon, asking]): Entry => {
    return { title, icon, act: () => setAsking(asking) };
  });
  return can("comment") ? [{ title: "Ask for more", icon: "comment", act: onAsk }, ...asked] : asked;
}

export function MoreMenu({ desk, onAsk, className = "" }: Props) {
  const [isOpen, setOpen] = useState(false);
  const entries = entriesOf(desk, onAsk);
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
