import { type Command, EXIT, needed, REASON } from "./command.ts";
import { scopeName, scopeOf, warnIfUnknown } from "./switch-scope.ts";

export const go: Command = {
  name: "go",
  words: [],
  summary: "release the kill switch",
  flags: { agent: { value: "<name>", summary: "only this agent" }, reason: REASON },
  async run(context) {
    const { hp, terminal, person: by } = context;
    const scope = scopeOf(context);
    const changed = await hp.go({ by, reason: needed(context, "reason"), ...scope });
    if (!changed) await warnIfUnknown(context, scope.agent);
    if (context.json) terminal.json({ stopped: false, changed, agent: scope.agent ?? null });
    else if (changed) terminal.line(`Released: ${scopeName(scope)} may start effects again.`);
    else terminal.line("Nothing changed: it was not stopped.");
    const whole = scope.agent === undefined ? undefined : await hp.stopped();
    if (whole?.stopped === true && !context.json)
      terminal.line("But the switch for everybody is on: `holdpoint go` without --agent releases it.");
    return EXIT.ok;
  },
};
