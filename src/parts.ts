/** What an instance offers beside its gates: it loads when it is first used. */

import type { Gates } from "./effects/gate.ts";
import { partLoader, withLazy } from "./kernel/load-part.ts";
import { environment } from "./open.ts";
import type { SuperviseOptions } from "./supervise/options.ts";
import type { Definitions } from "./workflows/start.ts";

const load = partLoader(import.meta.url);
/** Modules that load at their first use. */
export const parts = {
  actions: () => load<typeof import("./effects/verbs.ts")>("./effects/verbs.ts"),
  alerts: () => load<typeof import("./alerts/verbs.ts")>("./alerts/verbs.ts"),
  approvals: () => load<typeof import("./approvals/verbs.ts")>("./approvals/verbs.ts"),
  budgets: () => load<typeof import("./budgets/verbs.ts")>("./budgets/verbs.ts"),
  grants: () => load<typeof import("./grants/verbs.ts")>("./grants/verbs.ts"),
  intents: () => load<typeof import("./agents/intents/verbs.ts")>("./agents/intents/verbs.ts"),
  journal: () => load<typeof import("./runtime/journal.ts")>("./runtime/journal.ts"),
  killSwitch: () => load<typeof import("./kill-switch/verbs.ts")>("./kill-switch/verbs.ts"),
  keys: () => load<typeof import("./people/keys/verbs.ts")>("./people/keys/verbs.ts"),
  livePolicy: () => load<typeof import("./policy/live-policy.ts")>("./policy/live-policy.ts"),
  monitor: () => load<typeof import("./alerts/monitor.ts")>("./alerts/monitor.ts"),
  models: () => load<typeof import("./supervise/models/open-model.ts")>("./supervise/models/open-model.ts"),
  nodes: () => load<typeof import("./runtime/epochs.ts")>("./runtime/epochs.ts"),
  notify: () => load<typeof import("./notify/verbs.ts")>("./notify/verbs.ts"),
  remote: () => load<typeof import("./agents/verbs.ts")>("./agents/verbs.ts"),
  people: () => load<typeof import("./people/verbs.ts")>("./people/verbs.ts"),
  policies: () => load<typeof import("./policy/verbs.ts")>("./policy/verbs.ts"),
  recover: () => load<typeof import("./effects/recover.ts")>("./effects/recover.ts"),
  restore: () => load<typeof import("./runtime/restore.ts")>("./runtime/restore.ts"),
  supervise: () => load<typeof import("./supervise/supervise.ts")>("./supervise/supervise.ts"),
  tenants: () => load<typeof import("./people/tenants/verbs.ts")>("./people/tenants/verbs.ts"),
  verb: () => load<typeof import("./runtime/verb.ts")>("./runtime/verb.ts"),
  workflows: () => load<typeof import("./workflows/verbs.ts")>("./workflows/verbs.ts"),
};

type Supervise = ReturnType<typeof parts.supervise>["supervise"];
type SupervisePorts = Parameters<Supervise>[0];

export function startSupervised(
  given: Omit<SupervisePorts, "openModel">,
  options: SuperviseOptions,
): ReturnType<Supervise> {
  const openModel: SupervisePorts["openModel"] = (model) => parts.models().openModel(model, environment);
  return parts.supervise().supervise({ ...given, openModel }, options);
}

/** Adds the groups of methods of one instance. Each loads when it is first used. */
export function withMethodGroups<Base extends object>(base: Base, gates: Gates, definitions: Definitions) {
  const { open } = gates;
  const killSwitch = () => parts.killSwitch().bindKillSwitch(open);
  return withLazy(base, {
    actions: () => parts.verb().bindLibrary(open, parts.actions().actionVerbs),
    approvals: () => parts.approvals().approvalsOf(open),
    budgets: () => parts.verb().bindLibrary(open, parts.budgets().budgetVerbs),
    grants: () => parts.verb().bindLibrary(open, parts.grants().grantVerbs),
    intents: () => parts.intents().intentMethods(open),
    journal: () => parts.journal().journalOf(open),
    pause: () => killSwitch().pause,
    paused: () => killSwitch().paused,
    pauses: () => killSwitch().pauses,
    resume: () => killSwitch().resume,
    remote: () => parts.remote().remoteMethods(gates),
    receipts: () => parts.verb().bindLibrary(open, parts.actions().receiptVerbs),
    workflows: () => parts.workflows().workflowsOf(definitions),
  });
}
