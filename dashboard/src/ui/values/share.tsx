/** How many parts of a value may be shown here in their readable form: one number for a whole panel, handed down. */
import { createContext, type ReactNode, useContext } from "react";

const PARTS_IN_A_PANEL = 3_000;

const Context = createContext(PARTS_IN_A_PANEL);

export const useShare = (): number => useContext(Context);

export function Share({ parts, children }: { readonly parts: number; readonly children: ReactNode }) {
  return <Context value={parts}>{children}</Context>;
}
