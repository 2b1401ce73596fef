/** A value while it is written: where it is changed, and what is not yet fit to be read. */
import { createContext, useCallback, useContext, useMemo, useState } from "react";
import { canLeaveOut, withAt, withoutAt } from "../../format/edits.ts";
import type { Json, Path } from "../../format/json.ts";
import type { Issue } from "../../format/schema-form.ts";

export type FormState = {
  readonly value: Json;
  readonly set: (path: Path, value: Json) => void;
  readonly remove: (path: Path) => void;
  readonly reset: (value: Json) => void;
  /** Places where what was typed is no JSON yet. */
  readonly faults: ReadonlySet<string>;
  readonly setFault: (path: Path, isWrong: boolean) => void;
  /** Grows whenever the whole value is put in from outside: what is typed begins anew then. */
  readonly round: number;
};

const keyOf = (path: Path): string => JSON.stringify(path);

export function useFormState(first: Json): FormState {
  const [value, setValue] = useState(first);
  const [faults, setFaults] = useState<ReadonlySet<string>>(new Set());
  const [round, setRound] = useState(0);
  const set = useCallback((path: Path, put: Json) => setValue((now) => withAt(now, path, put)), []);
  const remove = useCallback((path: Path) => {
    setValue((now) => withoutAt(now, path));
    // Items after it move up: their boxes have to show what stands there now.
    if (typeof path.at(-1) === "number") setRound((count) => count + 1);
  }, []);
  const reset = useCallback((next: Json) => {
    setValue(next);
    setFaults(new Set());
    setRound((count) => count + 1);
  }, []);
  const setFault = useCallback((path: Path, isWrong: boolean) => {
    setFaults((now) => {
      const key = keyOf(path);
      if (now.has(key) === isWrong) return now;
      const next = new Set(now);
      if (isWrong) next.add(key);
      else next.delete(key);
      return next;
    });
  }, []);
  return useMemo(
    () => ({ value, set, remove, reset, faults, setFault, round }),
    [value, set, remove, reset, faults, setFault, round],
  );
}

export type Surroundings = {
  readonly state: FormState;
  /** The whole schema, where parts of it are pointed to. */
  readonly root: Json;
  /** As it was proposed. */
  readonly before: Json;
  readonly issues: readonly Issue[];
};

export const FormContext = createContext<Surroundings | null>(null);

export function useForm(): Surroundings {
  const form = useContext(FormContext);
  if (form === null) throw new Error("A field stands outside of a form.");
  return form;
}

export const mayRemove = ({ before }: Surroundings, path: Path): boolean => canLeaveOut(before, path);
