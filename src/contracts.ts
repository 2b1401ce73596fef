/** Every contract and every stream that is defined once. The generator of tables and reference rows works on these lists. */
import { approval } from "./approvals/stream.ts";
import { grants } from "./grants/contract.ts";
import { grant } from "./grants/stream.ts";

export const CONTRACTS = [grants] as const;
export const STREAMS = [approval, grant] as const;
