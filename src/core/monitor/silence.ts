/**
 * A workflow that executes and writes nothing. Those that execute stand in the order in which they were last heard of, so
 * only the first has to be looked at; one that waits, sleeps or is over is not among them.
 */
import { isJsonObject, type Json } from "../../kernel/json.ts";
import { duration, executesAfter } from "./moments.ts";
import { over, type Signal, type SilenceRule, type Watcher } from "./rules.ts";
import { MOST_SUBJECTS, savedPairs } from "./subjects.ts";

export const subjectOfWorkflow = (id: string): string => `workflow:${id}`;

export function watchSilence({ forMs }: SilenceRule, saved: Json): Watcher {
  const kept = isJsonObject(saved) ? saved : {};
  const heard = new Map(savedPairs<number>(kept["heard"] ?? null));
  const silent = new Set(Array.isArray(kept["silent"]) ? kept["silent"].map(String) : []);

  const begins = (id: string, since: number, now: number): Signal => ({
    subject: subjectOfWorkflow(id),
    holds: true,
    workflow: id,
    figures: { silentMs: now - since, forMs },
    says: `it executes and has written nothing for ${duration(forMs)}`,
    proof: { kind: "silent", forMs },
  });

  return {
    see(sighting) {
      const executes = executesAfter(sighting);
      if (executes === undefined || sighting.workflow === null) return [];
      const { id } = sighting.workflow;
      heard.delete(id);
      if (executes) heard.set(id, sighting.at);
      if (heard.size > MOST_SUBJECTS) heard.delete(first(heard));
      return silent.delete(id) ? [over(subjectOfWorkflow(id), id)] : [];
    },
    tick(now) {
      const signals: Signal[] = [];
      for (const [id, since] of heard) {
        if (since + forMs > now) break;
        heard.delete(id);
        silent.add(id);
        signals.push(begins(id, since, now));
      }
      return signals;
    },
    due() {
      const [since] = heard.values();
      return since === undefined ? null : since + forMs;
    },
    save: () => ({ heard: [...heard] as unknown as Json, silent: [...silent] }),
  };
}

function first(heard: ReadonlyMap<string, unknown>): string {
  const [id] = heard.keys();
  return id ?? "";
}
