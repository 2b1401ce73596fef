/** In the place of a part of the page that is still being loaded: nothing is approved before it is there. */
import { Loading } from "../states.tsx";
import { useComing } from "./folds.tsx";

export function Coming() {
  useComing();
  return <Loading />;
}
