/** Entry point `holdpoint/admin`: people, keys, tenants, notifications, monitors, policy versions, nodes and seals. */

import type { Monitors } from "./alerts/monitor.ts";
import type { Holdpoint } from "./index.ts";
import { HoldpointError } from "./kernel/errors.ts";
import { withLazy } from "./kernel/load-part.ts";
import type { Notifications } from "./notify/verbs.ts";
import { findOpener } from "./open.ts";
import { parts, type VerbGroups, verbGroups } from "./parts.ts";
import type { Policies } from "./policy/contract.ts";
import type { RuntimeOpener } from "./runtime/runtime.ts";
import type { Seals } from "./runtime/verbs.ts";
import { VERBS } from "./verbs.ts";

export type { Alert, AlertList, AlertPage, AlertSummary } from "./alerts/contract.ts";
export type { Monitor } from "./alerts/monitor.ts";
export type { MonitorOptions } from "./alerts/rules/check-rules.ts";
export type { ConditionAnswer, Figures, MonitoredEntry, MonitorRule } from "./alerts/rules/monitor-rule.ts";
export type { Scope } from "./kernel/registry.ts";
export type {
  Endpoint,
  EndpointChange,
  EndpointOffer,
  EndpointSummary,
  EndpointTest,
  EndpointWithSecret,
  Message,
  MessageList,
  MessagePage,
  MessageSummary,
} from "./notify/contract.ts";
export type { DeliveryOptions } from "./notify/settings.ts";
export type { LoginLink, NewPerson, Person, PersonChange } from "./people/contract.ts";
export type {
  ApiKey,
  IssuedKey,
  KeyList,
  KeyOffer,
  KeyPage,
  KeyRotation,
} from "./people/keys/contract.ts";
export type { Member, Role } from "./people/stream.ts";
export type { CreatedTenant, NewTenant, Tenant, TenantList, TenantPage } from "./people/tenants/contract.ts";
export type { BacktestReport, Suggestion } from "./policy/backtest/rules/answers.ts";
export type {
  AdoptedPolicyVersion,
  BacktestOptions,
  PolicyProgram,
  PolicyUsage,
  PolicyVersionDetails,
  PolicyVersionSummary,
  RecordedTool,
  ReplayResult,
  Suggestions,
  SuggestOptions,
} from "./policy/contract.ts";
export type { FleetNode, NodeList, NodePage, NodeStatus } from "./runtime/contract.ts";

export type Admin = Monitors &
  Notifications &
  Omit<VerbGroups<(typeof VERBS)["admin"]>, "policies"> & {
    /** Policy versions that were put in force, back-tests and suggestions. */
    readonly policies: Policies;
    readonly seals: Seals;
  };

/** Each group loads when it is first used. */
function createGroups(open: RuntimeOpener): Admin {
  return withLazy(
    {},
    {
      ...verbGroups(open, VERBS.admin),
      deliver: () => parts.notify().notificationMethods(open).deliver,
      monitor: () => parts.monitor().monitorMethods(open).monitor,
      policies: () => parts.policies().policiesOf(open),
      seals: () => parts.journal().sealMethods(open),
    },
  );
}

const groups = new WeakMap<RuntimeOpener, Admin>();

/**
 * Administration of an open instance.
 *
 * ```ts
 * import { holdpoint } from "holdpoint";
 * import { admin } from "holdpoint/admin";
 *
 * const hp = holdpoint();
 * const { people } = admin(hp);
 * await people.add({ person: "person:ann", roles: ["supervisor"], by: "person:root" });
 * await hp.close();
 * ```
 */
export function admin(hp: Holdpoint): Admin {
  const open = findOpener(hp);
  if (open === undefined)
    throw new HoldpointError("invalid_input", "admin() takes an instance that holdpoint() made.");
  const made = groups.get(open) ?? createGroups(open);
  groups.set(open, made);
  return made;
}
