/** Hello world that dies with -9 after the effect and before its record, the first time it runs. */
import { appendFileSync, existsSync } from "node:fs";
import { holdpoint } from "holdpoint";

const hp = holdpoint();
const deleteRecord = hp.gate({
  name: "delete_record",
  policy: "approve",
  run: (args: { id: number }) => {
    const isFirst = !existsSync("deleted.log");
    appendFileSync("deleted.log", `record ${args.id} deleted\n`);
    if (isFirst) process.kill(process.pid, "SIGKILL");
  },
});
console.log(JSON.stringify(await deleteRecord({ id: 42 }, { requestId: "cleanup-42" })));
await hp.close();
