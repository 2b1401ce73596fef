/** All keys, in front of the page. */
import { Dialog } from "../ui/dialog.tsx";
import { switchKeys, useKeysOn } from "./keys-choice.ts";
import { type KeyHelp, useShownKeys } from "./page-keys.ts";
import type { Place } from "./places.ts";

const EVERYWHERE: readonly KeyHelp[] = [
  { keys: "?", does: "these keys" },
  { keys: "Esc", does: "close what is in front" },
];

const KEY =
  "inline-block min-w-6 rounded-small border border-edge bg-sunken px-1.5 text-center font-mono text-small";

function KeyRow({ keys, does }: KeyHelp) {
  return (
    <div className="flex items-center justify-between gap-4 py-1 text-small">
      <dt className="text-soft">{does}</dt>
      <dd className="flex gap-1">
        {keys.split(" ").map((key) => (
          <kbd key={key} className={KEY}>
            {key}
          </kbd>
        ))}
      </dd>
    </div>
  );
}

function KeyGroup({ title, keys }: { readonly title: string; readonly keys: readonly KeyHelp[] }) {
  return (
    <section>
      <h3 className="mb-1 text-small font-semibold">{title}</h3>
      <dl>
        {keys.map((one) => (
          <KeyRow key={one.keys} {...one} />
        ))}
      </dl>
    </section>
  );
}

type Props = { readonly places: readonly Place[]; readonly isOpen: boolean; readonly onClose: () => void };

export function KeysHelp({ places, isOpen, onClose }: Props) {
  const pages = useShownKeys();
  const isOn = useKeysOn();
  const goes = places.flatMap(({ name, key }) => (key === "" ? [] : { keys: `g ${key}`, does: name }));
  return (
    <Dialog title="Keys" isOpen={isOpen} onClose={onClose}>
      <div className="grid gap-x-10 gap-y-5 sm:grid-cols-2">
        <KeyGroup title="Go to" keys={goes} />
        <div className="flex flex-col gap-5">
          {pages.map((page) => (
            <KeyGroup key={page.title} {...page} />
          ))}
          <KeyGroup title="Everywhere" keys={EVERYWHERE} />
        </div>
      </div>
      <label className="mt-5 flex min-h-11 items-center gap-2.5 border-t border-line pt-3 text-small">
        <input
          type="checkbox"
          className="size-4 accent-ink"
          checked={isOn}
          onChange={(event) => switchKeys(event.target.checked)}
        />
        Letters do something. Without this, only Tab, Enter and Escape do.
      </label>
    </Dialog>
  );
}
