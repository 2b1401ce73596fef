/**
 * What a tab hears of the stream, and asks the server for then.
 *
 * L1. Whatever an entry touches is asked anew, at most four times a second however many entries come.
 * L2. After a break everything is asked anew: nobody looks at what was true before it without being told.
 */
import type { QueryClient } from "@tanstack/react-query";
import { sessionQuery } from "../api/session.ts";
import { tellConnection } from "./connection.ts";
import { asking, hear, isToBeRelieved, NOTHING_HEARD, type Note } from "./one-stream.ts";
import { isStale, type Subject } from "./touches.ts";

const GATHER_MS = 250;

/** Gathers what was touched, and asks for all of it at once. The first is asked for without waiting. */
function gatherer(queries: QueryClient) {
  const stale = new Set<Subject>();
  let isAsking = false;
  const pause = () => new Promise((resolve) => window.setTimeout(resolve, GATHER_MS));
  const ask = async () => {
    isAsking = true;
    while (stale.size > 0) {
      const touched = new Set(stale);
      stale.clear();
      const asked = queries.invalidateQueries({ predicate: (query) => isStale(query, touched) });
      // Never again before the last answers are there: an asking that is broken off by the next one would never end.
      await Promise.all([pause(), asked]);
    }
    isAsking = false;
  };
  return (subjects: readonly Subject[]) => {
    for (const subject of subjects) stale.add(subject);
    if (!isAsking) void ask();
  };
}

export type Ear = {
  readonly hear: (note: Note) => void;
  /** It is said that somebody was asked who holds the stream. */
  readonly ask: () => void;
  readonly isToBeRelieved: () => boolean;
  /** What was heard is worth nothing from now on. */
  readonly forget: () => void;
  /** Whoever is logged in is asked for again. */
  readonly nobody: () => void;
};

export function earOf(queries: QueryClient): Ear {
  const touch = gatherer(queries);
  let heard = NOTHING_HEARD;
  let wasLive = false;
  const askAll = () => {
    const isFirst = !wasLive;
    wasLive = true;
    // Who one is was asked a moment ago when a page opens.
    const predicate = ({ queryKey: [subject] }: { readonly queryKey: readonly unknown[] }) =>
      !isFirst || subject !== sessionQuery.queryKey[0];
    void queries.invalidateQueries({ predicate });
  };
  return {
    hear(note) {
      const next = hear(heard, note);
      heard = next.heard;
      tellConnection(heard.connection);
      if (next.stale === "everything") askAll();
      else touch(next.stale);
    },
    ask() {
      heard = asking(heard);
    },
    isToBeRelieved: () => isToBeRelieved(heard),
    forget() {
      heard = NOTHING_HEARD;
      tellConnection(heard.connection);
    },
    nobody: () => void queries.invalidateQueries(sessionQuery),
  };
}
