import { type Command, EXIT, needed, REASON } from "./command.ts";
import {
  scopeFlags,
  scopeName,
  scopeOf,
  scopeOnWire,
  WHOSE,
  warnIfUnknown,
  whoStopped,
} from "./switch-scope.ts";

export const stop: Command = {
  name: "stop",
  words: [],
  summary: "the kill switch: no new effect starts, of anybody, of one agent or of one workflow",
  details: [
    "Effects that run already are not interrupted. Calls are told so and may come back after `holdpoint go`.",
  ],
  flags: { ...WHOSE, reason: REASON },
  async run(context) {
    const { hp, terminal, person: by } = context;
    const scope = await scopeOf(context);
    const changed = await hp.stop({ by, reason: needed(context, "reason"), ...scope });
    await warnIfUnknown(context, scope.agent);
    if (context.json) terminal.json({ stopped: true, changed, ...scopeOnWire(scope) });
    else if (changed)
      terminal.line(
        `Stopped: ${scopeName(scope)} starts nothing new until \`holdpoint go${scopeFlags(scope)}\`.`,
      );
    else terminal.line(`Nothing changed: it is ${await whoStopped(context, scope)}.`);
    return EXIT.ok;
  },
};
