/** Several of a list: check boxes, each with what it means. */
type Option<Id extends string> = { readonly id: Id; readonly words: string };
type Props<Id extends string> = {
  readonly label: string;
  readonly options: readonly Option<Id>[];
  readonly chosen: readonly Id[];
  readonly onChange: (chosen: readonly Id[]) => void;
  readonly isNarrow?: boolean;
};

export function CheckList<Id extends string>({
  label,
  options,
  chosen,
  onChange,
  isNarrow = false,
}: Props<Id>) {
  const turn = (id: Id) =>
    onChange(chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id]);
  return (
    <fieldset className="min-w-0">
      <legend className="mb-1 text-small font-semibold">{label}</legend>
      <div className={isNarrow ? "grid gap-x-4 sm:grid-cols-2" : "grid"}>
        {options.map(({ id, words }) => (
          <label key={id} className="flex min-h-8 items-start gap-2.5 py-1 text-small">
            <input
              type="checkbox"
              className="mt-0.5 size-4 shrink-0 accent-ink"
              checked={chosen.includes(id)}
              onChange={() => turn(id)}
            />
            <span>
              <span className="font-semibold">{id}</span> <span className="text-soft">{words}</span>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
