// The connection breaks after the request was sent. Was it done? Nobody knows, and nobody guesses: it is in doubt
// until a person has looked. Here a person looks at once.
import { holdpoint } from "holdpoint";

const hp = holdpoint({ notify: () => {} });
let calls = 0;

const pay = hp.gate({
  name: "pay",
  policy: "approve",
  run: (_args: { invoice: string }) => {
    calls += 1;
    throw new Error("socket hang up");
  },
});

const requestId = `invoice 7 ${new Date().toISOString()}`;
const first = await pay({ invoice: "7" }, { requestId });
const again = await pay({ invoice: "7" }, { requestId });
console.log(first.status, again.status, `${calls} call`);

const { items } = await hp.actions.list({ phase: "in_doubt", order: "newest", limit: 1 });
console.log(items[0]?.["reason"]);

if (again.status === "in_doubt")
  await hp.actions.resolve(again.effect, {
    status: "applied",
    by: "person:ann",
    reason: "the payment is on the bank statement",
  });
const after = await pay({ invoice: "7" }, { requestId });
if (after.status === "done") console.log(after.receipt.status, after.receipt.by, `${calls} call`);
await hp.close();
