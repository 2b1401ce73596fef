/** An instance at a distance: the verbs that the command line uses, asked of a server. */
import { grants } from "../../grants/contract.ts";
import type { Holdpoint } from "../../index.ts";
import { CommandError } from "../failure.ts";
import { remoteApprovals } from "./approvals.ts";
import {
  remoteAlerts,
  remoteEndpoints,
  remoteIntents,
  remoteKeys,
  remoteMessages,
  remotePeople,
} from "./office.ts";
import { lookOf } from "./relay.ts";
import type { Speaker } from "./speaker.ts";
import { remoteTenants } from "./tenants.ts";
import { remoteVerbs } from "./verbs.ts";
import { remoteActions, remoteJournal, remoteReceipts, remoteSwitch, remoteWorkflows } from "./work.ts";

export function onlyHere(what: string, why = "it works on the store itself"): CommandError {
  return new CommandError(
    "usage",
    `\`${what}\` is not done at a distance: ${why}.`,
    "Run it where the store is, with --data <folder> or --database <url>.",
  );
}

const isName = (name: string | symbol): name is string => typeof name === "string" && name !== "then";

/** What is not there says so when it is called. */
function guarded<Verbs extends object>(path: string, verbs: Verbs): Verbs {
  return new Proxy(verbs, {
    get(target, name) {
      if (name in target || !isName(name)) return Reflect.get(target, name);
      return () => Promise.reject(onlyHere(`${path}${name}`));
    },
  });
}

function policiesAt(look: ReturnType<typeof lookOf>) {
  return {
    list: () => look("policies.list"),
    versions: () => look("policies.versions"),
    get: (id: string) => look("policies.get", id),
    tools: () => look("policies.tools"),
    told: (action: string) => look("policies.told", action),
  };
}

export function remoteHoldpoint(speaker: Speaker): Holdpoint {
  const look = lookOf(speaker.client);
  const groups = {
    approvals: remoteApprovals(speaker, look),
    actions: remoteActions(speaker, look),
    receipts: remoteReceipts(speaker, look),
    workflows: remoteWorkflows(speaker, look),
    journal: remoteJournal(speaker, look),
    grants: remoteVerbs(speaker, grants),
    alerts: remoteAlerts(speaker, look),
    intents: remoteIntents(speaker, look),
    people: remotePeople(speaker, look),
    keys: remoteKeys(speaker, look),
    tenants: remoteTenants(speaker),
    endpoints: remoteEndpoints(speaker, look),
    messages: remoteMessages(speaker, look),
    policies: policiesAt(look),
    nodes: { list: (page: object = {}) => look("nodes.list", page) },
    budgets: {
      list: (page: object = {}) => look("budgets.list", page),
      get: (id: string) => look("budgets.get", id),
    },
  };
  const known = Object.entries(groups).map(([name, verbs]) => [name, guarded(`${name}.`, verbs)] as const);
  const all = { ...Object.fromEntries(known), ...remoteSwitch(speaker, look), close: async () => undefined };
  return guarded("", all) as unknown as Holdpoint;
}
