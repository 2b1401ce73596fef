/** Every contract and stream that is defined once. The generator of tables and reference rows reads these lists. */

import { remote } from "./agents/contract.ts";
import { intents } from "./agents/intents/contract.ts";
import { alerts } from "./alerts/contract.ts";
import { approvals } from "./approvals/contract.ts";
import { approval } from "./approvals/stream.ts";
import { budgets } from "./budgets/contract.ts";
import { actions, receipts } from "./effects/contract.ts";
import { grants } from "./grants/contract.ts";
import { grant } from "./grants/stream.ts";
import { killSwitch } from "./kill-switch/contract.ts";
import { endpoints, messages } from "./notify/contract.ts";
import { people } from "./people/contract.ts";
import { keys } from "./people/keys/contract.ts";
import { tenants } from "./people/tenants/contract.ts";
import { policies } from "./policy/contract.ts";
import { workflows } from "./workflows/contract.ts";
import { workflow } from "./workflows/stream.ts";

export const CONTRACTS = [
  actions,
  alerts,
  approvals,
  budgets,
  endpoints,
  grants,
  intents,
  keys,
  killSwitch,
  messages,
  people,
  policies,
  receipts,
  remote,
  tenants,
  workflows,
] as const;
export const STREAMS = [approval, grant, workflow] as const;
