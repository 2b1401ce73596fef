/** Tabs of one page, by the keyboard too. */
import { Tabs as Primitive } from "radix-ui";
import type { ReactNode } from "react";

export type Tab = { readonly id: string; readonly title: ReactNode; readonly content: ReactNode };
type Props = {
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly value: string;
  readonly onChange: (id: string) => void;
};

const TRIGGER =
  "-mb-px min-h-11 border-b-2 border-transparent px-3 text-small font-semibold whitespace-nowrap text-soft hover:text-ink focus-visible:-outline-offset-2 data-[state=active]:border-hold data-[state=active]:text-ink";

export function Tabs({ label, tabs, value, onChange }: Props) {
  return (
    <Primitive.Root value={value} onValueChange={onChange}>
      <Primitive.List aria-label={label} className="goes-on flex overflow-x-auto border-b border-line">
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
