/** Holdpoint's server: a proposal that a policy file approves. */

import { proposalOf } from "./proposal.ts";
import { openServer } from "./server-process.ts";

export const open = openServer({
  program: "holdpoint-server.ts",
  path: "/api/actions",
  status: 200,
  bodyOf: proposalOf,
});
