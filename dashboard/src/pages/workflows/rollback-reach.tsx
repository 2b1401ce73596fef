import type { RollbackTarget } from "../../api/workflows.ts";
import { Icon, type IconName } from "../../ui/icon.tsx";
import { Strange } from "../../ui/strange.tsx";
import { type Tone, WASH } from "../../ui/tone.ts";
import { isNothing, reachOf } from "./reach.ts";

type Calls = readonly RollbackTarget["calls"][number][];
type PartProps = {
  readonly title: string;
  readonly icon: IconName;
  readonly tone: Tone;
  readonly calls: Calls;
};

function Part({ title, icon, tone, calls }: PartProps) {
  if (calls.length === 0) return null;
  return (
    <li className={`rounded-base px-3 py-2 text-small ${WASH[tone]}`}>
      <p className="flex items-center gap-2 font-semibold">
        <Icon name={icon} className="size-4" />
        {title}
      </p>
      <ul className="mt-1 pl-6">
        {calls.map(({ action_id: id, tool }) => (
          <li key={id}>
            <Strange text={tool} /> <span className="font-mono text-tiny">{id}</span>
          </li>
        ))}
      </ul>
    </li>
  );
}

/** What the way back does to each call, what cannot be taken back first. */
export function RollbackReach({ calls }: { readonly calls: Calls }) {
  const reach = reachOf(calls);
  if (isNothing(reach))
    return (
      <p className="rounded-base bg-sunken px-3 py-2 text-small text-soft">
        Nothing was done since then that has to be taken back.
      </p>
    );
  return (
    <ul aria-label="What the way back does" className="flex max-h-72 flex-col gap-2 overflow-y-auto">
      <Part title="Cannot be taken back; it stays done" icon="warn" tone="stop" calls={reach.stays} />
      <Part
        title="In doubt: has to be found out before anything is taken back"
        icon="doubt"
        tone="doubt"
        calls={reach.inDoubt}
      />
      <Part title="Taken back, the newest first" icon="undo" tone="note" calls={reach.undone} />
      <Part
        title="Only the process that has the tool knows whether it can be"
        icon="warn"
        tone="hold"
        calls={reach.unknown}
      />
      <Part title="Under way: its end is waited for" icon="clock" tone="plain" calls={reach.underWay} />
      <Part title="Withdrawn before it began" icon="cross" tone="plain" calls={reach.withdrawn} />
    </ul>
  );
}
