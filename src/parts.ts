/** What an instance offers beside its gates: it loads when it is first used. */

import type { Gates } from "./effects/gate.ts";
import type { Contract, Library } from "./kernel/contract.ts";
import { partLoader, withLazy } from "./kernel/load-part.ts";
import { environment } from "./open.ts";
import type { RuntimeOpener } from "./runtime/runtime.ts";
import type { Capability } from "./runtime/verb.ts";
import type { SuperviseOptions } from "./supervise/options.ts";
import { VERBS } from "./verbs.ts";
import type { Definitions } from "./workflows/start.ts";

const load = partLoader(import.meta.url);
/** Modules that load at their first use. */
export const parts = {
  approvals: () => load<typeof import("./approvals/verbs.ts")>("./approvals/verbs.ts"),
  intents: () => load<typeof import("./agents/intents/verbs.ts")>("./agents/intents/verbs.ts"),
  journal: () => load<typeof import("./runtime/verbs.ts")>("./runtime/verbs.ts"),
  killSwitch: () => load<typeof import("./kill-switch/verbs.ts")>("./kill-switch/verbs.ts"),
  livePolicy: () => load<typeof import("./policy/live-policy.ts")>("./policy/live-policy.ts"),
  monitor: () => load<typeof import("./alerts/monitor.ts")>("./alerts/monitor.ts"),
  models: () => load<typeof import("./supervise/models/open-model.ts")>("./supervise/models/open-model.ts"),
  notify: () => load<typeof import("./notify/verbs.ts")>("./notify/verbs.ts"),
  remote: () => load<typeof import("./agents/verbs.ts")>("./agents/verbs.ts"),
  policies: () => load<typeof import("./policy/verbs.ts")>("./policy/verbs.ts"),
  recover: () => load<typeof import("./effects/recover.ts")>("./effects/recover.ts"),
  restore: () => load<typeof import("./runtime/restore.ts")>("./runtime/restore.ts"),
  supervise: () => load<typeof import("./supervise/supervise.ts")>("./supervise/supervise.ts"),
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

type VerbTable = { readonly [group: string]: () => { readonly contract: Contract } };
/** The methods of each group, as its contract declares them. */
export type VerbGroups<Table extends VerbTable> = {
  readonly [Group in keyof Table]: Library<ReturnType<Table[Group]>["contract"]>;
};

/** What makes each group of methods from its verbs. */
export const verbGroups = <Table extends VerbTable>(open: RuntimeOpener, table: Table) =>
  Object.fromEntries(
    Object.entries(table).map(([group, verbs]) => [
      group,
      () => parts.verb().bindLibrary(open, verbs() as Capability),
    ]),
  ) as { readonly [Group in keyof Table]: () => VerbGroups<Table>[Group] };

/** Adds the groups of methods of one instance. Each loads when it is first used. */
export function withMethodGroups<Base extends object>(base: Base, gates: Gates, definitions: Definitions) {
  const { open } = gates;
  const killSwitch = () => parts.killSwitch().bindKillSwitch(open);
  return withLazy(base, {
    ...verbGroups(open, VERBS.library),
    approvals: () => parts.approvals().approvalsOf(open),
    intents: () => parts.intents().intentMethods(open),
    journal: () => parts.journal().journalOf(open),
    pause: () => killSwitch().pause,
    paused: () => killSwitch().paused,
    pauses: () => killSwitch().pauses,
    resume: () => killSwitch().resume,
    remote: () => parts.remote().remoteMethods(gates),
    workflows: () => parts.workflows().workflowsOf(definitions),
  });
}
