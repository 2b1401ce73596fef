import type { Outcome, Scenario } from "./scenario.ts";
import { resultOf, workflowNameOf } from "./scenario.ts";

type Plan = { readonly release: string; readonly migrations: readonly string[] };

const CHECKPOINT = "Review the deployment";
/** What two hours without production cost in this story. */
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
      run: ({ migrations, release: version }: Plan) => {
        for (const name of migrations) say(`The migration ${name} is applied.`);
        const healthy = migrations.includes(MIGRATION);
        say(healthy ? `Production runs ${version}.` : `Production runs ${version}, and every request fails.`);
        return { healthy };
      },
    });
    const options = { checkpoints: [{ name: CHECKPOINT, requiresApproval: supervised }] };
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
      const plan: Plan = { release: version, migrations };
      const { outputs } = await ctx.checkpoint(CHECKPOINT, { outputs: plan, summary, confidence: 0.8 });
      const { healthy } = resultOf(await ctx.call(release, outputs));
      return healthy
        ? { costUsd: 0, told: `release ${version} is live with its migration` }
        : { costUsd: OUTAGE_USD, told: "production was down for two hours" };
    });
  },
};
