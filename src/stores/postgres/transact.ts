import { streamName } from "../../kernel/stream.ts";
import type { Decide, Needs } from "../../kernel/transaction.ts";

import { checkText } from "../check-text.ts";
import { indexName } from "../sight.ts";
import type { Queues } from "./group-commit.ts";
import { type Member, onlyReads } from "./member.ts";
import type { Patience } from "./patience.ts";
import { checkTenantLength } from "./text-key.ts";

export type Ways = { readonly writers: Queues; readonly lookers: Queues; readonly patience: Patience };

export function transact<Result>(
  { writers, lookers, patience }: Ways,
  tenant: string,
  needs: Needs,
  decide: Decide<Result>,
): Promise<Result> {
  checkTenantLength(checkText("tenant", tenant));
  checkNeeds(needs);
  return new Promise<Result>((resolve, reject) => {
    const member: Member = {
      tenant,
      needs,
      decide,
      deadline: performance.now() + patience.busyMs,
      rounds: 0,
      tries: 0,
      alone: false,
      writes: false,
      answer: (result) => resolve(result as Result),
      refuse: reject,
    };
    (onlyReads(member) ? lookers : writers).submit(member);
  });
}

/** Before they meet the database: what it cannot hold would fail the whole batch. */
function checkNeeds({ write = [], read = [], names = [], index = [] }: Needs): void {
  for (const stream of write) checkText("stream", streamName(stream));
  for (const stream of read) checkText("stream", streamName(stream));
  for (const name of names) checkText("name", name);
  for (const key of index) checkText("key", indexName(key));
}
