/** Every contract and stream that is defined once. The generator of tables and reference rows reads these lists. */
import { approvals } from "./approvals/contract.ts";
import { approval } from "./approvals/stream.ts";
import { budgets } from "./budgets/contract.ts";
import { grants } from "./grants/contract.ts";
import { grant } from "./grants/stream.ts";
import { killSwitch } from "./kill-switch/contract.ts";

export const CONTRACTS = [approvals, budgets, grants, killSwitch] as const;
export const STREAMS = [approval, grant] as const;
