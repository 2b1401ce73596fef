/** Alerts as people look at them, and their word that somebody has seen one. */

import { acknowledgeAlert } from "../../core/monitor/alert.ts";
import type { LiveAlert } from "../../core/monitor/alert-state.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import { checkFields, checkId, rejectInput } from "../../kernel/fields.ts";
import type { Json } from "../../kernel/json.ts";
import { isPerson, isPrincipal } from "../../kernel/principal.ts";
import { alertStream } from "../../kernel/stream.ts";
import { displayValue } from "../../kernel/text.ts";

import { findIds, rowPage, rowSummary } from "../../runtime/lists.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { readState, runCommand } from "../../runtime/store-access.ts";

export type Alert = LiveAlert & { readonly id: string };
export type AlertStatus = LiveAlert["status"] | "any";
export type AlertPage = {
  /** `standing` unless set. */
  readonly status?: AlertStatus;
  readonly order?: "oldest" | "newest";
  readonly limit?: number;
  readonly after?: string;
};
export type AlertSummary = { readonly id: string; readonly [field: string]: Json };
export type AlertList = { readonly items: readonly AlertSummary[]; readonly next: string | null };
export type AlertWord = { readonly by: string; readonly note?: string };

export type Alerts = {
  /** Those that stand, newest first; `next` is the cursor of the following page. */
  list(page?: AlertPage): Promise<AlertList>;
  get(id: string): Promise<Alert>;
  /** Ids that begin with a text, at most ten. */
  find(beginning: string): Promise<readonly string[]>;
  /** A person has seen it. It stands until what it is about is over. */
  acknowledge(id: string, word: AlertWord): Promise<Alert>;
};

type Place = Pick<Runtime, "store" | "tenant" | "clock">;

const ALERT = "An alert";
const VIEW = "alerts";
const STATUSES: readonly unknown[] = ["standing", "cleared", "any", undefined];

function checkPage(page: AlertPage): AlertPage {
  const { status } = checkFields("A page of alerts", page, ["status", "order", "limit", "after"]);
  if (!STATUSES.includes(status))
    rejectInput(`An alert's status is standing, cleared or any, not "${displayValue(status)}".`);
  return page;
}

async function listAlerts(place: Place, page: AlertPage): Promise<AlertList> {
  const { status = "standing", order = "newest", limit = 100, after } = checkPage(page);
  const list = { view: VIEW, kind: "alert", prefix: "alr", bucket: status } as const;
  const { rows, next } = await rowPage(place, { ...list, order, limit, after });
  return { items: rows.map(rowSummary), next };
}

function unknown(id: string): HoldpointError {
  return new HoldpointError("unknown_id", `There is no alert ${displayValue(id)}.`, {
    next: "Check the id; `holdpoint alerts --all` lists them.",
  });
}

async function getAlert(place: Place, id: string): Promise<Alert> {
  const state = await readState(place, alertStream(id));
  if (state.status === "none") throw unknown(id);
  return structuredClone({ ...state, id });
}

function checkWord({ by, note }: AlertWord): { readonly by: string; readonly note: string | null } {
  if (!isPrincipal(by) || !isPerson(by))
    rejectInput(`"${displayValue(by)}" is not a person: write person:<name>.`);
  const isText =
    note === undefined || (typeof note === "string" && note.isWellFormed() && note.length <= 10_000);
  if (!isText) rejectInput("A note is a text of at most 10000 characters.");
  return { by, note: note ?? null };
}

async function acknowledge(place: Place, id: string, given: AlertWord): Promise<Alert> {
  const word = checkWord(checkFields("What is said", given, ["by", "note"]));
  const answer = await runCommand(place, { write: [alertStream(id)] }, (draft) =>
    acknowledgeAlert(draft, id, word),
  );
  if (answer.kind === "unknown") throw unknown(id);
  return structuredClone({ ...answer.state, id });
}

export function alertsOf(open: () => Promise<Runtime>): Alerts {
  return {
    list: async (page = {}) => listAlerts(await open(), page),
    get: async (id) => getAlert(await open(), checkId(ALERT, id)),
    find: async (beginning) => findIds(await open(), VIEW, checkId(ALERT, beginning)),
    acknowledge: async (id, word) => acknowledge(await open(), checkId(ALERT, id), word),
  };
}
