/** Capabilities whose commands are made from their contracts. */
import { grants, grantsTerminal } from "../grants/contract.ts";
import type { Resource } from "./resource.ts";

export const GRANTS = { contract: grants, prefix: "grt", terminal: grantsTerminal } as unknown as Resource;
