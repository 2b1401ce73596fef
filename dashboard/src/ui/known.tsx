/** Ids and digests: short enough to read, whole to copy. */
import { visible } from "../../../src/kernel/text.ts";
import { classes } from "./classes.ts";
import { Icon } from "./icon.tsx";
import { Strange } from "./strange.tsx";
import { useCopied } from "./use-copied.ts";

type Props = { readonly id: string; readonly isShort?: boolean; readonly className?: string };

const short = (id: string): string => (id.length <= 16 ? id : `${id.slice(0, 8)}…${id.slice(-5)}`);

export function Known({ id, isShort = false, className }: Props) {
  const { isCopied, copy } = useCopied(id);
  return (
    <span className={classes("inline-flex max-w-full items-center gap-1", className)}>
      <code title={visible(id)} className="min-w-0 break-all font-mono text-small">
        <Strange text={isShort ? short(id) : id} />
      </code>
      <button
        type="button"
        aria-label={`Copy ${visible(id)}`}
        onClick={() => void copy()}
        className="p-1 text-faint hover:text-ink"
      >
        <Icon name={isCopied ? "check" : "copy"} className="size-3.5" />
      </button>
      <span role="status" className="sr-only">
        {isCopied ? "copied" : ""}
      </span>
    </span>
  );
}
