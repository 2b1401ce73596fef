/** The example: an agent of the server's own, for whoever has none yet. */
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { client } from "./client.ts";

export const exampleQuery = queryOptions({
  queryKey: ["approvals", "example"],
  queryFn: () => client.server.example(),
  retry: false,
});

export function useAskExample() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => client.server.askExample({}),
    onSettled: () => queries.invalidateQueries({ queryKey: ["approvals"] }),
  });
}
