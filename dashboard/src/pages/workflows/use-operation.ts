import { useMutation, useQueryClient } from "@tanstack/react-query";
import { toast } from "../../ui/toaster.tsx";

type Operation<Given> = {
  readonly act: (given: Given) => Promise<unknown>;
  readonly done: string;
  readonly onDone: () => void;
};

/** Something done to a workflow: when it is done, that is said, and everything about workflows is asked anew. */
export function useOperation<Given>({ act, done, onDone }: Operation<Given>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: act,
    onSuccess: () => {
      toast(done);
      onDone();
      for (const subject of ["workflows", "below", "switch"])
        void queries.invalidateQueries({ queryKey: [subject] });
    },
  });
}
