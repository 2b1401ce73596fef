/** The same words to both servers. */
import { randomUUID } from "node:crypto";
import { PAYLOAD } from "../system.ts";

const life = randomUUID().slice(0, 8);
export const proposalOf = (number: number): string =>
  JSON.stringify({ tool: "ship", request_id: `${life}-${number}`, args: { amount: 900, note: PAYLOAD } });
