/** The journal as it is written: one stream for the desk in a browser, however many tabs it is open in. */
import { type QueryClient, QueryObserver } from "@tanstack/react-query";
import { type Session, sessionQuery } from "../api/session.ts";
import { type Ear, earOf } from "./ear.ts";
import { holdAs } from "./holder.ts";
import { whileAwake, whileShown } from "./spells.ts";
import { canShare, shareStream } from "./tabs.ts";

/** Tabs of the same person in the same tenant hear the same. The number changes with what tabs tell each other. */
const circleOf = ({ tenant, principal }: Session): string =>
  `holdpoint.live.1 ${tenant} ${principal ?? "nobody"}`;

function begin(circle: string, ear: Ear, signal: AbortSignal): void {
  const inSpells = canShare() ? whileAwake : whileShown;
  inSpells((spell) => {
    spell.addEventListener("abort", ear.forget, { once: true });
    const alone = () => {
      if (!spell.aborted) holdAs({ name: circle, ear, tell: () => {}, signal: spell });
    };
    // A browser may have locks and not give them, as where nothing may be stored.
    if (canShare()) shareStream(circle, ear, spell).catch(alone);
    else alone();
  }, signal);
}

/** As long as the page is there. Whoever logs in as somebody else listens elsewhere. */
export function keepLive(queries: QueryClient): void {
  const ear = earOf(queries);
  let circle: string | undefined;
  let stop = new AbortController();
  new QueryObserver(queries, sessionQuery).subscribe(({ data }) => {
    const next = data === undefined ? circle : circleOf(data);
    if (next === undefined || next === circle) return;
    circle = next;
    stop.abort();
    stop = new AbortController();
    begin(next, ear, stop.signal);
  });
}
