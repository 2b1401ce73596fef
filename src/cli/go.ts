import { type Command, EXIT, needed, REASON } from "./command.ts";
import { scopeName, scopeOf, scopeOnWire, WHOSE, warnIfUnknown } from "./switch-scope.ts";

export const go: Command = {
  name: "go",
  words: [],
  summary: "release the kill switch",
  flags: { ...WHOSE, reason: REASON },
  async run(context) {
    const { hp, terminal, person: by } = context;
    const scope = await scopeOf(context);
    const changed = await hp.go({ by, reason: needed(context, "reason"), ...scope });
    if (!changed) await warnIfUnknown(context, scope.agent);
    if (context.json) terminal.json({ stopped: false, changed, ...scopeOnWire(scope) });
    else if (changed) terminal.line(`Released: ${scopeName(scope)} may start effects again.`);
    else terminal.line("Nothing changed: it was not stopped.");
    const isOne = scope.agent !== undefined || scope.workflow !== undefined;
    const whole = isOne ? await hp.stopped() : undefined;
    if (whole?.stopped === true && !context.json)
      terminal.line("But the switch for everybody is on: `holdpoint go` alone releases it.");
    return EXIT.ok;
  },
};
