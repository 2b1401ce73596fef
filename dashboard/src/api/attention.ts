/** What wants somebody now. */
import { queryOptions } from "@tanstack/react-query";
import { client } from "./client.ts";

export const attentionQuery = queryOptions({
  queryKey: ["attention"],
  queryFn: () => client.approvals.attention(),
});
