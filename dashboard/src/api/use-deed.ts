/**
 * Something that is done once a person says so. What is answered goes to whoever asked and is kept nowhere else: keys, secrets
 * and links are answered once, and stand in no cache.
 */
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Subject } from "../live/touches.ts";

type Options<Input, Answer> = {
  readonly does: (input: Input) => Promise<Answer>;
  /** What is asked anew afterwards, at once: the live stream may be away. */
  readonly touches?: Subject | readonly (Subject | "below")[];
  readonly onDone?: (answer: Answer) => void;
};

export type DeedState = {
  readonly isBusy: boolean;
  /** What went wrong the last time; undefined where nothing did. */
  readonly error: unknown;
};
export type Deed<Input> = DeedState & { readonly run: (input: Input) => void };

const IDLE: DeedState = { isBusy: false, error: undefined };

export function useDeed<Input, Answer>({ does, touches, onDone }: Options<Input, Answer>): Deed<Input> {
  const queries = useQueryClient();
  const [state, setState] = useState(IDLE);
  const perform = async (input: Input) => {
    setState({ isBusy: true, error: undefined });
    try {
      const answer = await does(input);
      setState(IDLE);
      onDone?.(answer);
    } catch (error) {
      setState({ isBusy: false, error });
    }
    const stale = touches === undefined ? [] : [touches].flat();
    await Promise.all(stale.map((subject) => queries.invalidateQueries({ queryKey: [subject] })));
  };
  return { ...state, run: (input) => void perform(input) };
}
