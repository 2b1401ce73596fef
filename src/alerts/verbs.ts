/** Implementation of the verbs of alerts. */

import { unknownId } from "../kernel/contract.ts";
import type { HoldpointError } from "../kernel/errors.ts";
import { alertStream } from "../kernel/stream.ts";
import { findIds, rowPage, rowSummary } from "../runtime/lists.ts";
import { readState } from "../runtime/store-access.ts";
import { capability, decideVerb, readVerb } from "../runtime/verb.ts";
import { type AlertSummary, alerts } from "./contract.ts";
import { acknowledgeAlert } from "./rules/alert.ts";

const unknownAlert = (id: string): HoldpointError => unknownId(alerts, id, "alerts --all");

export const alertVerbs = capability(alerts, {
  list: readVerb(async (runtime, { status, order, limit = 100, after }) => {
    const list = { view: "alerts", kind: "alert", prefix: "alr", bucket: status } as const;
    const { rows, next } = await rowPage(runtime, { ...list, order, limit, after });
    return { items: rows.map((row) => rowSummary(row) as unknown as AlertSummary), next };
  }),
  get: readVerb(async (runtime, { id }) => {
    const state = await readState(runtime, alertStream(id));
    if (state.status === "none") throw unknownAlert(id);
    return structuredClone({ ...state, id });
  }),
  find: readVerb((runtime, { beginning }) => findIds(runtime, "alerts", beginning)),
  acknowledge: decideVerb(
    (draft, { id, by, note = null }) => acknowledgeAlert(draft, id, { by, note }),
    (_, answer, { id }) => {
      if (answer.kind === "unknown") throw unknownAlert(id);
      return structuredClone({ ...answer.state, id });
    },
  ),
});
