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

/** Boxes that are gone, or show something else now, have no fault. */
function faultsBeside(faults: ReadonlySet<string>, path: Path): ReadonlySet<string> {
  const isWithin = (key: string): boolean => {
    const place = JSON.parse(key) as Path;
    return path.every((step, at) => step === place[at]);
  };
  const left = [...faults].filter((key) => !isWithin(key));
  return left.length === faults.size ? faults : new Set(left);
}

export function useFormState(first: Json): FormState {
  const [value, setValue] = useState(first);
  const [faults, setFaults] = useState<ReadonlySet<string>>(new Set());
  const [round, setRound] = useState(0);
  const set = useCallback((path: Path, put: Json) => {
    setValue((now) => withAt(now, path, put));
    setFaults((now) => faultsBeside(now, path));
  }, []);
  const remove = useCallback((path: Path) => {
    const isItem = typeof path.at(-1) === "number";
    setValue((now) => withoutAt(now, path));
    // Items after it move up: boxes have to show what stands there now, and begin anew.
    setFaults((now) => (isItem ? new Set() : faultsBeside(now, path)));
    if (isItem) setRound((count) => count + 1);
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
