/** How much of a page is folded away, so that whoever decides is told that they have not seen all of it. */
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useId,
  useMemo,
  useState,
} from "react";

type Folds = {
  /** Characters that are out of sight, in how many places. */
  readonly hidden: number;
  readonly places: number;
  /** Grows whenever all is opened: what was folded by hand before is open then. */
  readonly round: number;
  readonly openAll: () => void;
  readonly tell: (id: string, hidden: number) => void;
};

const NONE: Folds = { hidden: 0, places: 0, round: 0, openAll: () => {}, tell: () => {} };
const Context = createContext<Folds>(NONE);

export const useFolds = (): Folds => useContext(Context);

export function FoldsProvider({ children }: { readonly children: ReactNode }) {
  const [folds, setFolds] = useState<ReadonlyMap<string, number>>(new Map());
  const [round, setRound] = useState(0);
  const tell = useCallback((id: string, hidden: number) => {
    setFolds((before) => {
      if ((before.get(id) ?? 0) === hidden) return before;
      const next = new Map(before);
      if (hidden === 0) next.delete(id);
      else next.set(id, hidden);
      return next;
    });
  }, []);
  const value = useMemo(
    () => ({
      hidden: [...folds.values()].reduce((sum, count) => sum + count, 0),
      places: folds.size,
      round,
      openAll: () => setRound((count) => count + 1),
      tell,
    }),
    [folds, round, tell],
  );
  return <Context value={value}>{children}</Context>;
}

/** Of one thing that can be folded: whether it is open, and the telling of how much is out of sight. */
export function useFold(hidden: number): {
  readonly isOpen: boolean;
  readonly setOpen: (isOpen: boolean) => void;
} {
  const id = useId();
  const { round, tell } = useFolds();
  const [own, setOwn] = useState<{ readonly isOpen: boolean; readonly round: number } | null>(null);
  const isOpen = own?.round === round ? own.isOpen : round > 0 || own?.isOpen === true;
  const setOpen = useCallback((to: boolean) => setOwn({ isOpen: to, round }), [round]);
  useEffect(() => {
    tell(id, isOpen ? 0 : hidden);
    return () => tell(id, 0);
  }, [id, hidden, isOpen, tell]);
  return { isOpen, setOpen };
}
