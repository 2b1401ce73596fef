import { agoText, exactText, untilText } from "../format/times.ts";
import { useNow } from "../live/use-now.ts";

/** A moment as an age or a span; the exact one on hover and for readers. */
export function When({ at, className }: { readonly at: string; readonly className?: string }) {
  const now = useNow();
  const text = Date.parse(at) > now + 1_000 ? untilText(at, now) : agoText(at, now);
  return (
    <time dateTime={at} title={exactText(at)} className={className}>
      {text}
    </time>
  );
}
