type Props = { readonly current: number; readonly total: number; readonly isOver: boolean };

const MOST = 12;
const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1);

/** Checkpoint 2 of 4: a mark for each, those that were come to filled. */
export function CheckpointProgress({ current, total, isOver }: Props) {
  if (total === 0 && current === 0) return <span className="text-faint">no checkpoints</span>;
  const all = Math.max(total, current);
  return (
    <span className="flex items-center gap-2">
      {all <= MOST ? (
        <span aria-hidden="true" className="flex gap-0.5">
          {numbers(all).map((number) => {
            const reached = isOver ? "bg-edge" : "bg-ink";
            const colour = number <= current ? reached : "border border-edge";
            return <span key={number} className={`h-3 w-1.5 rounded-[1px] ${colour}`} />;
          })}
        </span>
      ) : null}
      <span className="figures whitespace-nowrap">
        <span className="sr-only">checkpoint </span>
        {current} of {all}
      </span>
    </span>
  );
}
