// Ten calls at once, a budget for three of them. The cost is reserved together with the start, so no two calls can
// spend the same money.
import { holdpoint } from "holdpoint";

const hp = holdpoint();
const usd = (amount: number) => ({ currency: "USD", micros: BigInt(Math.round(amount * 1_000_000)) });
const budget = `ads.${Date.now()}`;
await hp.budgets.limit(budget, usd(100));

const advertise = hp.gate({
  name: "advertise",
  policy: "approve",
  cost: () => ({ budget, amount: usd(30) }),
  run: (_args: { number: number }, context) => {
    context.spent(budget, usd(28));
    return "published";
  },
});

const calls = Array.from({ length: 10 }, (_, number) =>
  advertise({ number }, { requestId: `${budget} ${number}` }),
);
for (const answer of await Promise.all(calls))
  console.log(answer.status === "done" ? answer.result : answer.reason);

const { spent, reserved } = await hp.budgets.get(budget);
console.log(`spent ${Number(spent) / 1_000_000} USD, reserved ${Number(reserved) / 1_000_000} USD`);
await hp.close();
