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
  readonly isAllOpen: boolean;
  readonly openAll: () => void;
  readonly tell: (id: string, hidden: number) => void;
};

const NONE: Folds = { hidden: 0, places: 0, isAllOpen: false, openAll: () => {}, tell: () => {} };
const Context = createContext<Folds>(NONE);

export const useFolds = (): Folds => useContext(Context);

export function FoldsProvider({ children }: { readonly children: ReactNode }) {
  const [folds, setFolds] = useState<ReadonlyMap<string, number>>(new Map());
  const [isAllOpen, setAllOpen] = useState(false);
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
      isAllOpen,
      openAll: () => setAllOpen(true),
      tell,
    }),
    [folds, isAllOpen, tell],
  );
  return <Context value={value}>{children}</Context>;
}

/** Of one thing that can be folded: whether it is open, and the telling of how much is out of sight. */
export function useFold(hidden: number): {
  readonly isOpen: boolean;
  readonly setOpen: (isOpen: boolean) => void;
} {
  const id = useId();
  const { isAllOpen, tell } = useFolds();
  const [own, setOpen] = useState<boolean | null>(null);
  const isOpen = own ?? isAllOpen;
  useEffect(() => {
    tell(id, isOpen ? 0 : hidden);
    return () => tell(id, 0);
  }, [id, hidden, isOpen, tell]);
  return { isOpen, setOpen };
}
