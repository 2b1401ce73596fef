/** A policy's text to type in: with line numbers, and a mark at every line that something is said of. */
import { type RefObject, useId } from "react";
import { visible } from "../../../../src/kernel/text.ts";
import { classes } from "../../ui/classes.ts";
import type { Check } from "./policy-queries.ts";

type Remark = Check["remarks"][number];

const LEAST_LINES = 14;
const MARKS = {
  fault: "bg-stop-wash font-semibold text-stop",
  warning: "bg-hold-wash font-semibold text-hold",
} as const;

function worstAt(remarks: readonly Remark[], line: number): Remark | undefined {
  const here = remarks.filter((remark) => remark.line === line);
  return here.find(({ severity }) => severity === "fault") ?? here[0];
}

function Gutter({ lines, remarks }: { readonly lines: number; readonly remarks: readonly Remark[] }) {
  return (
    <div
      aria-hidden="true"
      className="figures w-11 shrink-0 border-r border-line py-2 text-right text-faint select-none"
    >
      {Array.from({ length: lines }, (_none, at) => {
        const worst = worstAt(remarks, at + 1);
        const says = worst && visible(worst.message);
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place.
          <div key={at} className={classes("pr-2", worst && MARKS[worst.severity])} title={says}>
            {at + 1}
          </div>
        );
      })}
    </div>
  );
}

type Props = {
  readonly text: string;
  readonly remarks: readonly Remark[];
  readonly onChange: (text: string) => void;
  readonly box: RefObject<HTMLTextAreaElement | null>;
  /** What stands below it is read with it. */
  readonly describedBy: string;
};

export function PolicyEditor({ text, remarks, onChange, box, describedBy }: Props) {
  const id = useId();
  const lines = Math.max(LEAST_LINES, text.split("\n").length);
  const hasFault = remarks.some(({ severity }) => severity === "fault");
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="text-small font-semibold">
        The policy's text, as YAML or JSON
      </label>
      <div
        className={classes(
          "flex max-h-[32rem] items-start overflow-y-auto rounded-base border bg-surface font-mono text-small leading-6 focus-within:outline-2 focus-within:outline-offset-2 focus-within:outline-ink",
          hasFault ? "border-stop" : "border-edge",
        )}
      >
        <Gutter lines={lines} remarks={remarks} />
        <textarea
          id={id}
          ref={box}
          value={text}
          rows={lines}
          wrap="off"
          spellCheck={false}
          autoCapitalize="off"
          aria-describedby={describedBy}
          aria-invalid={hasFault || undefined}
          onChange={(event) => onChange(event.target.value)}
          className="min-w-0 grow resize-none overflow-x-auto overflow-y-hidden bg-transparent px-3 py-2 leading-6 focus-visible:outline-none"
        />
      </div>
    </div>
  );
}
