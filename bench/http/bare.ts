/** A bare route: validates, commits a row and answers. */

import { proposalOf } from "./proposal.ts";
import { openServer } from "./server-process.ts";

export const open = openServer({
  program: "bare-server.ts",
  path: "/propose",
  status: 201,
  bodyOf: proposalOf,
});
