/** A tab that holds the stream: whatever comes is heard by itself, and by whoever else listens. */
import type { Ear } from "./ear.ts";
import { firstNote, type Note, standing, touching } from "./one-stream.ts";
import { holdStream } from "./stream.ts";

export type Holder = {
  /** Says how the stream stands. */
  readonly answer: () => void;
  /** Until the signal aborts. */
  readonly ended: Promise<void>;
};

type Parts = {
  readonly name: string;
  readonly ear: Ear;
  readonly tell: (note: Note) => void;
  readonly signal: AbortSignal;
};

export function holdAs({ name, ear, tell, signal }: Parts): Holder {
  let last = firstNote(name);
  const say = (note: Note) => {
    last = { ...note, isHidden: document.hidden };
    ear.hear(last);
    tell(last);
  };
  say(last);
  const ended = holdStream(
    {
      connection: (now) => say(standing(last, now)),
      // A kind of stream that no page shows.
      touched: (subjects) => (subjects.length === 0 ? undefined : say(touching(last, subjects))),
      nobody: ear.nobody,
    },
    signal,
  );
  return { answer: () => say(standing(last, last.connection)), ended };
}
