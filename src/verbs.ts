/** Made by `npm run generate`: the verbs of each contract, by where the library has them. They load at their first use. */
import { partLoader } from "./kernel/load-part.ts";

const load = partLoader(import.meta.url);

export const VERBS = {
  admin: {
    alerts: () => load<typeof import("./alerts/verbs.ts")>("./alerts/verbs.ts").alertVerbs,
    endpoints: () => load<typeof import("./notify/verbs.ts")>("./notify/verbs.ts").endpointVerbs,
    keys: () => load<typeof import("./people/keys/verbs.ts")>("./people/keys/verbs.ts").keyVerbs,
    messages: () => load<typeof import("./notify/verbs.ts")>("./notify/verbs.ts").messageVerbs,
    nodes: () => load<typeof import("./runtime/verbs.ts")>("./runtime/verbs.ts").nodeVerbs,
    people: () => load<typeof import("./people/verbs.ts")>("./people/verbs.ts").peopleVerbs,
    policies: () => load<typeof import("./policy/verbs.ts")>("./policy/verbs.ts").policyVerbs,
    tenants: () => load<typeof import("./people/tenants/verbs.ts")>("./people/tenants/verbs.ts").tenantVerbs,
  },
  instance: {
    killSwitch: () => load<typeof import("./kill-switch/verbs.ts")>("./kill-switch/verbs.ts").killSwitchVerbs,
  },
  library: {
    actions: () => load<typeof import("./effects/verbs.ts")>("./effects/verbs.ts").actionVerbs,
    approvals: () => load<typeof import("./approvals/verbs.ts")>("./approvals/verbs.ts").approvalVerbs,
    budgets: () => load<typeof import("./budgets/verbs.ts")>("./budgets/verbs.ts").budgetVerbs,
    grants: () => load<typeof import("./grants/verbs.ts")>("./grants/verbs.ts").grantVerbs,
    intents: () => load<typeof import("./agents/intents/verbs.ts")>("./agents/intents/verbs.ts").intentVerbs,
    journal: () => load<typeof import("./runtime/verbs.ts")>("./runtime/verbs.ts").journalVerbs,
    receipts: () => load<typeof import("./effects/verbs.ts")>("./effects/verbs.ts").receiptVerbs,
    remote: () => load<typeof import("./agents/verbs.ts")>("./agents/verbs.ts").remoteVerbs,
    workflows: () => load<typeof import("./workflows/verbs.ts")>("./workflows/verbs.ts").workflowVerbs,
  },
  remote: {
    "remote.workflows": () =>
      load<typeof import("./agents/verbs.ts")>("./agents/verbs.ts").remoteWorkflowVerbs,
  },
};
