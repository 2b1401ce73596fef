/** How many wait for somebody, beside the page where they wait. */
import { useQuery } from "@tanstack/react-query";
import { attentionQuery } from "../api/attention.ts";
import { countText } from "../format/amounts.ts";

export function PlaceCount({ to }: { readonly to: string }) {
  const { data } = useQuery(attentionQuery);
  const counts: { readonly [to: string]: number | undefined } = {
    "/approvals": data?.mine,
    "/in-doubt": data?.in_doubt,
  };
  const count = counts[to] ?? 0;
  const isPart = to === "/approvals" && data?.is_all === false;
  if (count === 0 && !isPart) return null;
  const colour = to === "/in-doubt" ? "bg-doubt-wash text-doubt" : "bg-hold-wash text-hold";
  return (
    <span className={`figures rounded-full px-1.5 text-tiny font-semibold ${colour}`}>
      {isPart ? <span className="sr-only">at least </span> : null}
      {countText(count)}
      {isPart ? <span aria-hidden="true">+</span> : null}
      <span className="sr-only"> waiting</span>
    </span>
  );
}
