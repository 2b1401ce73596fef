import { type Command, EXIT, needed, REASON } from "./command.ts";
import { scopeName, scopeOf, warnIfUnknown, whoStopped } from "./switch-scope.ts";

export const stop: Command = {
  name: "stop",
  words: [],
  summary: "the kill switch: no new effect starts, of anybody or of one agent",
  details: [
    "Effects that run already are not interrupted. Calls are told so and may come back after `holdpoint go`.",
  ],
  flags: { agent: { value: "<name>", summary: "only this agent" }, reason: REASON },
  async run(context) {
    const { hp, terminal, person: by } = context;
    const scope = scopeOf(context);
    const changed = await hp.stop({ by, reason: needed(context, "reason"), ...scope });
    await warnIfUnknown(context, scope.agent);
    if (context.json) terminal.json({ stopped: true, changed, agent: scope.agent ?? null });
    else if (changed)
      terminal.line(`Stopped: ${scopeName(scope)} starts nothing new until \`holdpoint go\`.`);
    else terminal.line(`Nothing changed: it is ${await whoStopped(context, scope.agent)}.`);
    return EXIT.ok;
  },
};
