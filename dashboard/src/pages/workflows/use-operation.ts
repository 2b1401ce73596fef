import { type Deed, useDeed } from "../../api/use-deed.ts";
import { toast } from "../../ui/toaster.tsx";

type Operation<Given> = {
  readonly act: (given: Given) => Promise<unknown>;
  readonly done: string;
  readonly onDone: () => void;
};

/** Something done to a workflow: when it is done, that is said, and everything about workflows is asked anew. */
export function useOperation<Given>({ act, done, onDone }: Operation<Given>): Deed<Given> {
  return useDeed({
    does: act,
    touches: ["workflows", "below", "switch"],
    onDone: () => {
      toast(done);
      onDone();
    },
  });
}
