import { checkText } from "../check-text.ts";
import type { Writer } from "./group-commit.ts";
import { inTransaction } from "./in-transaction.ts";
import type { Journal } from "./journal.ts";

export function putSecret(
  { journal, writer }: { journal: Journal; writer: Writer },
  tenant: string,
  id: string,
  sealed: Uint8Array,
): Promise<void> {
  checkText("tenant", tenant);
  checkText("secret's id", id);
  return inTransaction(writer, () => journal.secrets.put(journal.tenants.ensure(tenant), id, sealed));
}
