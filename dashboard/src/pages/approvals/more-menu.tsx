/** What is done more seldom than yes or no. */
import { DropdownMenu } from "radix-ui";
import { Icon, type IconName } from "../../ui/icon.tsx";
import type { Asking, Desk } from "./use-desk.ts";

type Entry = { readonly title: string; readonly icon: IconName; readonly act: () => void };
type Props = { readonly desk: Desk; readonly onAsk: () => void };

function entriesOf({ approval, card, setAsking }: Desk, onAsk: () => void): readonly Entry[] {
  const ask = (title: string, icon: IconName, asking: Asking): Entry => ({ title, icon, act: () => setAsking(asking) });
  const isPending = approval.status === "pending";
  return [
    ...(isPending ? [{ title: "Ask for more", icon: "comment", act: onAsk } as const] : []),
    ...(isPending && approval.decide_by !== null ? [ask("Give more time", "clock", "extend")] : []),
    ...(isPending && card.you.may_decide ? [ask("Have somebody else decide", "person", "delegate")] : []),
    ...(isPending && approval.delegations.length > 0 ? [ask("Decide yourself again", "undo", "take-back")] : []),
    ...(isPending ? [ask("Take the question back", "cross", "cancel")] : []),
    ...(["approved", "modified"].includes(approval.status) ? [ask("Take the decision back", "undo", "revoke")] : []),
  ];
}

export function MoreMenu({ desk, onAsk }: Props) {
  const entries = desk.hasScope ? entriesOf(desk, onAsk) : [];
  if (entries.length === 0) return null;
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger
        aria-label="More to do with it"
        className="inline-flex size-11 shrink-0 items-center justify-center rounded-base border border-edge bg-surface hover:bg-sunken"
      >
        <Icon name="more" />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align="start"
          sideOffset={6}
          collisionPadding={12}
          className="z-40 min-w-56 rounded-base border border-line bg-surface p-1 shadow-lg"
        >
          {entries.map(({ title, icon, act }) => (
            <DropdownMenu.Item
              key={title}
              onSelect={act}
              className="flex min-h-11 cursor-pointer items-center gap-3 rounded-small px-3 text-base outline-none data-highlighted:bg-sunken"
            >
              <Icon name={icon} className="size-4 text-soft" />
              {title}
            </DropdownMenu.Item>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}
