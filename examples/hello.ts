// A person has to agree before the record is deleted. Kill this program while it waits, decide in another
// terminal with `npx holdpoint approve <id>`, run it again: the record is deleted once.
import { appendFileSync } from "node:fs";
import { holdpoint } from "holdpoint";

const hp = holdpoint();
const remove = (args: { id: number }) => appendFileSync("deleted.log", `record ${args.id} deleted\n`);
const deleteRecord = hp.gate({ name: "delete_record", run: remove });
console.log(await deleteRecord({ id: 42 }, { requestId: "cleanup-42" }));
await hp.close();
