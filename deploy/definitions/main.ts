/** What the workers of the compose file run. Put your own tools and workflows in its place. */
import type { Holdpoint } from "holdpoint";

export default (hp: Holdpoint): void => {
  const greet = hp.gate({
    name: "greet",
    description: "Greets somebody, after a person agreed",
    effect: "idempotent",
    run: ({ name }: { name: string }) => ({ greeting: `Hello, ${name}.` }),
  });
  hp.workflow("greeting", async (ctx, input: { name: string }) => ctx.call(greet, input));
};
