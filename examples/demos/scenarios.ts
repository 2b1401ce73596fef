/** The four scenarios: pizza, trade, deploy and legal. */
import { type Outcome, resultOf, type Scenario, usd, workflowNameOf } from "./play.ts";

type PizzaTask = { readonly people: number; readonly priceUsd: number };
type PizzaOrder = { readonly pizzas: number; readonly priceUsd: number };

const PIZZA_CHECKPOINT = "Review the food order";

/** The agent reads "Pizza for 10" as ten for each of the ten. */
const plannedPizzas = (people: number): number => people * people;

export const pizza: Scenario = {
  name: "pizza",
  title: "A hundred pizzas",
  task: "Book a meeting room, and order pizza for 10 people at 12 USD each.",
  mistake: "The agent multiplied: 100 pizzas for 10 people, 90 of them for nobody.",
  input: { people: 10, priceUsd: 12 },
  hint: "modify, and set pizzas to 10",
  corrects: [{ kind: "modify", edit: { pizzas: 10 }, note: "Ten people eat ten pizzas." }],
  rejects: { kind: "reject", reason: "The lunch is off; we meet somewhere else.", final: true },
  define(hp, { supervised, say }) {
    const book = hp.gate({
      name: "room.book",
      policy: "approve",
      undo: ({ room }) => say(`The booking of ${room} is cancelled.`),
      run: ({ room, people }: { room: string; people: number }) => {
        say(`${room} is booked for ${people} people.`);
        return { booking: `${room}-1` };
      },
    });
    const order = hp.gate({
      name: "pizza.order",
      policy: "approve",
      undo: ({ pizzas }) => say(`The order of ${pizzas} pizzas is cancelled.`),
      run: ({ pizzas, priceUsd }: PizzaOrder) => {
        say(`${pizzas} pizzas at ${priceUsd} USD are ordered.`);
        return { paidUsd: pizzas * priceUsd };
      },
    });
    const options = { checkpoints: [{ name: PIZZA_CHECKPOINT, requiresApproval: supervised }] };
    return hp.workflow(workflowNameOf("pizza", supervised), options, async (ctx, input): Promise<Outcome> => {
      const { people, priceUsd } = input as PizzaTask;
      await ctx.call(book, { room: "Room Aquarium", people });
      const pizzas = await ctx.step("plan the food", () => plannedPizzas(people));
      const plan: PizzaOrder = { pizzas, priceUsd };
      const summary = `Pizza for ${people}: ${pizzas} pizzas at ${priceUsd} USD, ${usd(pizzas * priceUsd)} in all.`;
      const { outputs } = await ctx.checkpoint(PIZZA_CHECKPOINT, { outputs: plan, summary, confidence: 0.9 });
      const { paidUsd } = resultOf(await ctx.call(order, outputs));
      return { costUsd: paidUsd, told: `${outputs.pizzas} pizzas for ${people} people` };
    });
  },
};

type TradeOrder = { readonly shares: number; readonly priceUsd: number };

const TRADE_CHECKPOINT = "Review the trade";
/** How far the market falls in this story after the order. */
const DROP_PERCENT = 20;

export const trade: Scenario = {
  name: "trade",
  title: "A trade before a fall",
  task: "Read the market, and trade on what you see.",
  mistake: "The agent saw a chance and put all of it on one share; the market fell by 20 %.",
  input: { shares: 1_000, priceUsd: 50 },
  hint: "modify, and set shares to 500",
  corrects: [{ kind: "modify", edit: { shares: 500 }, note: "The market is nervous: half of it." }],
  rejects: { kind: "reject", reason: "No new positions this week.", final: true },
  define(hp, { supervised, say }) {
    const reserve = hp.gate({
      name: "funds.reserve",
      policy: "approve",
      undo: ({ amountUsd }) => say(`${usd(amountUsd)} are released.`),
      run: ({ amountUsd }: { amountUsd: number }) => {
        say(`${usd(amountUsd)} are set aside for the trade.`);
        return { reservation: "F-1" };
      },
    });
    const buy = hp.gate({
      name: "shares.buy",
      policy: "approve",
      run: ({ shares, priceUsd }: TradeOrder) => {
        say(`${shares.toLocaleString("en-US")} shares are bought at ${priceUsd} USD.`);
        return { shares, paidUsd: shares * priceUsd };
      },
    });
    const options = { checkpoints: [{ name: TRADE_CHECKPOINT, requiresApproval: supervised }] };
    return hp.workflow(workflowNameOf("trade", supervised), options, async (ctx, input): Promise<Outcome> => {
      const plan = await ctx.step("read the market", () => input as TradeOrder);
      const amountUsd = plan.shares * plan.priceUsd;
      await ctx.call(reserve, { amountUsd });
      const summary = `The share is cheap. Buy ${plan.shares.toLocaleString("en-US")} at ${plan.priceUsd} USD: ${usd(amountUsd)}.`;
      const { outputs } = await ctx.checkpoint(TRADE_CHECKPOINT, { outputs: plan, summary, confidence: 0.7 });
      const { shares, paidUsd } = resultOf(await ctx.call(buy, outputs));
      const drop = await ctx.step("the market closes", () => {
        say(`The market falls by ${DROP_PERCENT} %.`);
        return DROP_PERCENT;
      });
      const costUsd = (paidUsd * drop) / 100;
      return { costUsd, told: `${shares.toLocaleString("en-US")} shares lost ${drop} % of their price` };
    });
  },
};

type DeployPlan = { readonly release: string; readonly migrations: readonly string[] };

const DEPLOY_CHECKPOINT = "Review the deployment";
/** Cost of two hours without production in this story. */
const OUTAGE_USD = 50_000;
const MIGRATION = "add-column-currency.sql";

export const deploy: Scenario = {
  name: "deploy",
  title: "A deployment without its migration",
  task: "Build release 2.0, which needs a new column in the database, and deploy it.",
  mistake: "The release went out without the migration that it needs: production was down for two hours.",
  input: { release: "2.0" },
  hint: "reject, and say that the migration is missing; then approve the second plan",
  corrects: [
    { kind: "reject", reason: "The migration for the new column is missing.", final: false },
    { kind: "approve", note: "Now it has its migration." },
  ],
  rejects: { kind: "reject", reason: "No release before the holidays.", final: true },
  define(hp, { supervised, say }) {
    const build = hp.gate({
      name: "image.publish",
      policy: "approve",
      undo: ({ release }) => say(`The image of ${release} is deleted.`),
      run: ({ release }: { release: string }) => {
        say(`The image of ${release} is built, tested and published.`);
        return { image: `shop:${release}` };
      },
    });
    const stage = hp.gate({
      name: "staging.deploy",
      policy: "approve",
      undo: () => say("Staging is back on the release before."),
      run: ({ image }: { image: string }) => say(`Staging runs ${image}.`),
    });
    const release = hp.gate({
      name: "production.deploy",
      policy: "approve",
      run: ({ migrations, release: version }: DeployPlan) => {
        for (const name of migrations) say(`The migration ${name} is applied.`);
        const healthy = migrations.includes(MIGRATION);
        say(healthy ? `Production runs ${version}.` : `Production runs ${version}, and every request fails.`);
        return { healthy };
      },
    });
    const options = { checkpoints: [{ name: DEPLOY_CHECKPOINT, requiresApproval: supervised }] };
    const name = workflowNameOf("deploy", supervised);
    return hp.workflow(name, options, async (ctx, input): Promise<Outcome> => {
      const { release: version } = input as { release: string };
      const { image } = resultOf(await ctx.call(build, { release: version }));
      await ctx.call(stage, { image });
      const why = ctx.sentBack?.reason ?? null;
      const migrations = why === null ? [] : [MIGRATION];
      const listed = migrations.length === 0 ? "no migrations" : `the migration ${migrations.join(", ")}`;
      const told = why === null ? "." : `, because I was told: "${why}"`;
      const summary = `Release ${version} with ${listed}${told}`;
      const plan: DeployPlan = { release: version, migrations };
      const { outputs } = await ctx.checkpoint(DEPLOY_CHECKPOINT, {
        outputs: plan,
        summary,
        confidence: 0.8,
      });
      const { healthy } = resultOf(await ctx.call(release, outputs));
      return healthy
        ? { costUsd: 0, told: `release ${version} is live with its migration` }
        : { costUsd: OUTAGE_USD, told: "production was down for two hours" };
    });
  },
};

type Clause = { readonly clause: string; readonly liability: string };

const LEGAL_CHECKPOINT = "Review the contract";
const UNLIMITED = "unlimited";

export const legal: Scenario = {
  name: "legal",
  title: "A clause without a limit",
  task: "Draft the supply contract with Acme, and send it for signature.",
  mistake: "The agent took over the other side's clause: our liability has no limit.",
  input: { party: "Acme" },
  hint: 'modify, and set liability to "limited to 12 months of fees"',
  corrects: [
    {
      kind: "modify",
      edit: { liability: "limited to 12 months of fees" },
      note: "We never sign without a limit.",
    },
  ],
  rejects: { kind: "reject", reason: "We do not contract with Acme any more.", final: true },
  define(hp, { supervised, say }) {
    const draft = hp.gate({
      name: "document.create",
      policy: "approve",
      undo: ({ title }) => say(`The draft "${title}" is deleted.`),
      run: ({ title }: { title: string }) => {
        say(`The draft "${title}" is in the shared folder.`);
        return { document: "D-1" };
      },
    });
    const send = hp.gate({
      name: "contract.send",
      policy: "approve",
      run: ({ party, clause, liability }: Clause & { party: string }) => {
        say(`The contract is sent to ${party}. Clause ${clause}, our liability: ${liability}.`);
        return { signed: true };
      },
    });
    const options = { checkpoints: [{ name: LEGAL_CHECKPOINT, requiresApproval: supervised }] };
    return hp.workflow(workflowNameOf("legal", supervised), options, async (ctx, input): Promise<Outcome> => {
      const { party } = input as { party: string };
      await ctx.call(draft, { title: `Supply contract ${party}` });
      const clause = await ctx.step(
        "draft the clauses",
        (): Clause => ({ clause: "9", liability: UNLIMITED }),
      );
      const summary = `${party} sent clause 9 as they like it. I kept it, so that they sign soon.`;
      const { outputs } = await ctx.checkpoint(LEGAL_CHECKPOINT, {
        outputs: clause,
        summary,
        confidence: 0.6,
      });
      resultOf(await ctx.call(send, { party, ...outputs }));
      return { costUsd: null, told: `signed; our liability is ${outputs.liability}` };
    });
  },
};
