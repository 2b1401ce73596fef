// Run it twice: the effect happens once, and the second run answers with the first one's result and receipt.
import { appendFileSync } from "node:fs";
import { holdpoint } from "holdpoint";

const hp = holdpoint();

const answer = await hp.execute({
  requestId: "invoice-1001",
  action: "send_invoice",
  payload: { customer: "c-17", amount: 250 },
  run: ({ customer, amount }) => {
    appendFileSync("invoices.log", `${customer} ${amount}\n`);
    return { sent: true };
  },
});

if (answer.status === "done") console.log(answer.result, answer.receipt.effect);
else console.log(answer.reason, answer.next);
await hp.close();
