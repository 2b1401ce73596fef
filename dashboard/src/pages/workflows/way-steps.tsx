/** The same way as a list, with the times. */
import { several } from "../../format/amounts.ts";
import { spanText } from "../../format/times.ts";
import { Strange } from "../../ui/strange.tsx";
import { FILL, statusText, toneOf } from "../../ui/tone.ts";
import { When } from "../../ui/when.tsx";
import type { Stop } from "./way.ts";

const MOST = 6;

/** How long it was there; an instant is not told. */
function stayOf({ at }: Stop, until: string | undefined): string {
  const ms = until === undefined ? 0 : Date.parse(until) - Date.parse(at);
  return ms < 1_000 ? "" : `, for ${spanText(ms)}`;
}

function Step({ stop, until }: { readonly stop: Stop; readonly until: string | undefined }) {
  const isHere = until === undefined;
  return (
    <li className="relative flex gap-3 pb-4 last:pb-0">
      <span aria-hidden="true" className="flex flex-col items-center">
        <span
          className={`mt-1.5 size-2.5 shrink-0 rounded-full ${isHere ? FILL[toneOf(stop.status)] : "bg-edge"}`}
        />
        {isHere ? null : <span className="mt-1 w-px grow bg-line" />}
      </span>
      <span className="min-w-0 text-small">
        <span className={isHere ? "font-semibold" : "text-soft"}>{statusText(stop.status)}</span>
        {stop.why === "" ? null : (
          <span className="text-faint">
            : <Strange isProse text={stop.why} />
          </span>
        )}
        <span className="block text-tiny text-faint">
          <When at={stop.at} />
          {stayOf(stop, until)}
        </span>
      </span>
    </li>
  );
}

export function WaySteps({ way }: { readonly way: readonly Stop[] }) {
  const skipped = Math.max(0, way.length - MOST);
  const shown = way.slice(skipped);
  return (
    <div>
      {skipped === 0 ? null : (
        <p className="pb-3 text-tiny text-faint">
          {several(skipped, "earlier move")}; the timeline has them all
        </p>
      )}
      <ol aria-label="The way it went">
        {shown.map((stop, index) => (
          <Step key={`${stop.at} ${stop.status}`} stop={stop} until={shown[index + 1]?.at} />
        ))}
      </ol>
    </div>
  );
}
