/** Made by `npm run generate`: every contract, in the order of their names. */
import { remote, remoteWorkflows } from "./agents/contract.ts";
import { intents } from "./agents/intents/contract.ts";
import { alerts } from "./alerts/contract.ts";
import { approvals } from "./approvals/contract.ts";
import { budgets } from "./budgets/contract.ts";
import { actions, receipts } from "./effects/contract.ts";
import { grants } from "./grants/contract.ts";
import { killSwitch } from "./kill-switch/contract.ts";
import { endpoints, messages } from "./notify/contract.ts";
import { people } from "./people/contract.ts";
import { keys } from "./people/keys/contract.ts";
import { tenants } from "./people/tenants/contract.ts";
import { policies } from "./policy/contract.ts";
import { journal, nodes } from "./runtime/contract.ts";
import { workflows } from "./workflows/contract.ts";

export const CONTRACTS = [
  actions,
  alerts,
  approvals,
  budgets,
  endpoints,
  grants,
  intents,
  journal,
  keys,
  killSwitch,
  messages,
  nodes,
  people,
  policies,
  receipts,
  remote,
  remoteWorkflows,
  tenants,
  workflows,
] as const;
