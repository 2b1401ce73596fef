/** What wants somebody now. */
import { queryOptions } from "@tanstack/react-query";
import { client } from "./client.ts";

async function attention() {
  const { pending_approvals } = await client.workflows.stats();
  return { approvals: pending_approvals, in_doubt: 0 };
}

export const attentionQuery = queryOptions({ queryKey: ["attention"], queryFn: attention });
