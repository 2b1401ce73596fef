/** A few lines to copy. */
import { Button } from "./button.tsx";
import { useCopied } from "./use-copied.ts";

export function Snippet({ title, text }: { readonly title: string; readonly text: string }) {
  const { isCopied, copy } = useCopied(text);
  return (
    <figure className="flex min-w-0 flex-col rounded-base border border-line bg-ground">
      <figcaption className="flex items-center justify-between border-b border-line py-1 pr-1 pl-3 text-small font-semibold text-soft">
        {title}
        <Button kind="quiet" size="small" icon={isCopied ? "check" : "copy"} onClick={() => void copy()}>
          {isCopied ? "Copied" : "Copy"}
        </Button>
      </figcaption>
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard.
        tabIndex={0}
        className="overflow-x-auto p-3 font-mono text-tiny"
      >
        {text}
      </pre>
    </figure>
  );
}
