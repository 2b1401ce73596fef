/** Tabs of one page, by the keyboard too. */
import { Tabs as Primitive } from "radix-ui";
import { type ReactNode, useEffect, useRef } from "react";

export type Tab = { readonly id: string; readonly title: ReactNode; readonly content: ReactNode };
type Props = {
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly value: string;
  readonly onChange: (id: string) => void;
};

const TRIGGER =
  "-mb-px min-h-11 border-b-2 border-transparent px-3 text-small font-semibold whitespace-nowrap text-soft hover:text-ink focus-visible:-outline-offset-2 data-[state=active]:border-hold data-[state=active]:text-ink";

/** On a phone the one that was chosen may lie beyond the edge: an address leads to it too. */
function useInSight(value: string) {
  const list = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever another one is chosen.
  useEffect(() => {
    list.current
      ?.querySelector("[data-state=active]")
      ?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [value]);
  return list;
}

export function Tabs({ label, tabs, value, onChange }: Props) {
  const list = useInSight(value);
  return (
    <Primitive.Root value={value} onValueChange={onChange}>
      <Primitive.List
        ref={list}
        aria-label={label}
        className="goes-on flex overflow-x-auto border-b border-line"
      >
        {tabs.map(({ id, title }) => (
          <Primitive.Trigger key={id} value={id} className={TRIGGER}>
            {title}
          </Primitive.Trigger>
        ))}
      </Primitive.List>
      {tabs.map(({ id, content }) => (
        <Primitive.Content key={id} value={id} className="pt-4">
          {id === value ? content : null}
        </Primitive.Content>
      ))}
    </Primitive.Root>
  );
}
