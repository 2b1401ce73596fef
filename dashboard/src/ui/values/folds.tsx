/** How much of a page is folded away or not there yet, so that whoever decides is told that they have not seen all of it. */
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useId,
  useLayoutEffect,
  useMemo,
  useState,
} from "react";

/** Of one part of the page: how many characters of it are out of sight, or that it is still being loaded. */
type Told = number | "coming";

type Folds = {
  /** Characters that are out of sight, in how many places. */
  readonly hidden: number;
  readonly places: number;
  readonly isComing: boolean;
  /** Grows whenever all is opened: what was folded by hand before is open then. */
  readonly round: number;
  readonly openAll: () => void;
  readonly tell: (id: string, told: Told) => void;
};

const NONE: Folds = { hidden: 0, places: 0, isComing: false, round: 0, openAll: () => {}, tell: () => {} };
const Context = createContext<Folds>(NONE);

export const useFolds = (): Folds => useContext(Context);

export function FoldsProvider({ children }: { readonly children: ReactNode }) {
  const [folds, setFolds] = useState<ReadonlyMap<string, Told>>(new Map());
  const [round, setRound] = useState(0);
  const tell = useCallback((id: string, told: Told) => {
    setFolds((before) => {
      if ((before.get(id) ?? 0) === told) return before;
      const next = new Map(before);
      if (told === 0) next.delete(id);
      else next.set(id, told);
      return next;
    });
  }, []);
  const value = useMemo(() => {
    const counts = [...folds.values()].filter((told) => told !== "coming");
    return {
      hidden: counts.reduce((sum, count) => sum + count, 0),
      places: counts.length,
      isComing: counts.length < folds.size,
      round,
      openAll: () => setRound((count) => count + 1),
      tell,
    };
  }, [folds, round, tell]);
  return <Context value={value}>{children}</Context>;
}

/** Told before anything is painted: at no moment can something be approved that is folded. */
function useTold(told: Told): void {
  const id = useId();
  const { tell } = useFolds();
  useLayoutEffect(() => {
    tell(id, told);
    return () => tell(id, 0);
  }, [id, told, tell]);
}

/** Of one thing that can be folded: whether it is open, and the telling of how much is out of sight. */
export function useFold(hidden: number): {
  readonly isOpen: boolean;
  readonly setOpen: (isOpen: boolean) => void;
} {
  const { round } = useFolds();
  const [own, setOwn] = useState<{ readonly isOpen: boolean; readonly round: number } | null>(null);
  const isOpen = own?.round === round ? own.isOpen : round > 0 || own?.isOpen === true;
  const setOpen = useCallback((to: boolean) => setOwn({ isOpen: to, round }), [round]);
  useTold(isOpen ? 0 : hidden);
  return { isOpen, setOpen };
}

/** Of what stands in the place of a part that is still being loaded. */
export const useComing = (): void => useTold("coming");
