/** What limits agents and what they ask for: standing grants, budgets and intents; the nodes that execute. */
import type { Intent, IntentSummary } from "../../agents/intents/contract.ts";
import type { BudgetSummary } from "../../budgets/contract.ts";
import type { GrantUse, StandingGrant } from "../../grants/contract.ts";
import { moneyText } from "../../kernel/money.ts";
import type { CardDocument, RichText } from "../../kernel/terminal.ts";
import { visible } from "../../kernel/text.ts";
import type { FleetNode } from "../../runtime/contract.ts";
import { act, type FlagValues, listing, type Resource, showing } from "../resource.ts";
import { usage } from "../shell/command.ts";
import { formatAgo, formatSpan } from "../shell/terminal.ts";

const words = (status: StandingGrant["status"]): string => status.replace("_", " ");
const TONES = { active: "green", used_up: "yellow", expired: "yellow", revoked: "red" } as const;

const total = ({ limit }: StandingGrant): string =>
  limit === null ? "no limit" : `${moneyText(limit.spent)} of ${moneyText(limit.total)}`;

function useText({ at, action, amount, returned }: GrantUse): RichText {
  const sum = amount === null ? "" : `, ${moneyText(amount)}`;
  return [{ ago: at }, `: ${action}${sum}${returned ? " (given back: it did nothing)" : ""}`];
}

type ShownGrant = StandingGrant & { readonly usedBy?: readonly GrantUse[] };

function grantCard({ usedBy = [], ...one }: ShownGrant): CardDocument {
  const { limit, revoked } = one;
  return {
    title: `Grant ${one.id}`,
    asOf: revoked?.at ?? one.givenAt,
    badge: { text: words(one.status), tone: TONES[one.status] },
    sections: {
      "What it permits without asking": {
        tool: `${one.tool}, as long as its input schema is ${one.schema.slice(0, 12)}…`,
        arguments: one.when ?? "any",
        agent: one.agent ?? "any",
        uses: `${one.used} of ${one.uses}`,
        total: total(one),
        "one use": limit?.amount,
      },
      "Who gave it": {
        owner: `${one.by}; it counts as their vote`,
        reason: one.reason,
        given: [{ ago: one.givenAt }],
        expires: [{ ago: one.expiresAt }],
        revoked: revoked === null ? undefined : [{ ago: revoked.at }, ` by ${revoked.by}: ${revoked.reason}`],
      },
      Uses: usedBy.length === 0 ? { none: "yet" } : { used: { each: usedBy.map(useText) } },
    },
    next: one.status === "active" ? [`grants revoke ${one.id} --reason "…"`] : [],
  };
}

function revokedWords({ id, tool }: StandingGrant, { revoked }: StandingGrant, now: number): string {
  if (revoked === null) return `Revoked: ${id}, ${tool}. Nothing more starts by it.`;
  const { at, by, reason } = revoked;
  return `Already revoked: ${id}, ${tool}, ${formatAgo(at, now)} by ${by}: ${reason}. Nothing was written.`;
}

export const grantsResource: Resource = {
  name: "grants",
  id: "grt",
  summary: "List, give, show and revoke standing grants",
  details: [
    "grants (or grants list) lists what can be used now; --all also what cannot any more.",
    "grants show <id> shows every use; grants revoke <id> --reason <text> ends it.",
    "In a pipe each line is tab-separated: id, status, tool, agent, uses, total, expiry, owner, condition.",
  ],
  examples: [
    'holdpoint grants give --tool payments.refund --when "args.amount_usd <= 100" --uses 50 --total "500 USD" --amount args.amount_usd --for 7d --reason "small refunds"',
  ],
  flags: {
    tool: { value: "<name>", summary: "give: the tool; list: only of this tool" },
    when: {
      value: "<expression>",
      summary: "give: which arguments, such as args.amount <= 100; any unless set",
    },
    agent: { value: "<name>", summary: "give: which agent; any unless set" },
    uses: { value: "<n>", summary: "give: how often" },
    total: {
      value: "<money>",
      summary: 'give: what all uses may come to, together with amount, such as "500 USD"',
    },
    amount: { value: "<expression>", summary: "give: what one use comes to, such as args.amount" },
    for: { value: "<span>", mostDays: 90, summary: "give: how long, at most 90 days, such as 12h or 7d" },
    reason: { value: "<text>", summary: "give and revoke: why; it is recorded" },
    all: { summary: "list: also what cannot be used any more" },
    limit: { value: "<n>", summary: "list: how many to show; 50 unless set" },
    full: { summary: "show: long values in full" },
  },
  parts: {
    list: listing<StandingGrant>({
      flags: ["tool", "all", "limit"],
      query: ({ all, ...query }) => (all === true ? { ...query, status: "any" } : query),
      columns: [
        ["ID", ({ id }) => id],
        ["STATUS", ({ status }) => words(status)],
        ["TOOL", ({ tool }) => tool],
        ["AGENT", ({ agent }) => agent ?? "any"],
        ["USES", ({ used, uses }) => `${used}/${uses}`],
        ["TOTAL", total],
        ["EXPIRES", ({ expiresAt }) => ({ at: expiresAt })],
        ["OWNER", ({ by }) => by],
        ["ARGUMENTS", ({ when }) => when ?? "any"],
      ],
      givesWay: ["OWNER", "EXPIRES", "AGENT", "TOTAL"],
      empty: "There are no standing grants.",
    }),
    give: act<StandingGrant>({
      flags: ["tool", "when", "agent", "uses", "total", "amount", "for", "reason", "full"],
      needs: ["tool", "uses", "for", "reason"],
      says: () => "Given. From now on this runs without asking:",
      showsCard: true,
    }),
    show: showing<ShownGrant>({
      flags: ["full"],
      word: "id",
      card: grantCard,
      json: ({ usedBy, ...grant }) => ({ grant, uses: usedBy }),
    }),
    revoke: act<StandingGrant>({
      flags: ["reason"],
      needs: ["reason"],
      word: "id",
      reads: "before",
      says: (grant, { item, now }) => revokedWords(grant, item as StandingGrant, now),
    }),
  },
};

const money = ({ limit: { currency } }: BudgetSummary, micros: bigint): string =>
  moneyText({ currency, micros });

export const budgetsResource: Resource = {
  name: "budgets",
  summary: "List budgets: limit, spent, and held by effects",
  details: [
    "In a pipe each line is tab-separated: name, limit, spent, reserved, how many effects hold a part of it.",
  ],
  flags: { limit: { value: "<n>", summary: "how many to show; 50 unless set" } },
  parts: {
    list: listing<BudgetSummary>({
      flags: ["limit"],
      columns: [
        ["NAME", ({ name }) => name],
        ["LIMIT", (one) => money(one, one.limit.micros)],
        ["SPENT", (one) => money(one, one.spent)],
        ["RESERVED", (one) => money(one, one.reserved)],
        ["EFFECTS", ({ effects }) => String(effects)],
      ],
      empty: "No budget was opened.",
    }),
  },
};

function endFields({ end }: Intent): { readonly ended?: RichText } {
  if (end === null) return {};
  const reason = end.status === "completed" ? "" : `: ${end.reason}`;
  return { ended: [{ ago: end.at }, ` by ${end.by}${reason}`] };
}

/** The life cycle comes first, in a line that a program can search for. */
function intentCard(intent: Intent): CardDocument {
  const { id, intentType, from, to, toAgent, requestId, deadline, approval, waitsOn, parent, end } = intent;
  return {
    title: `lifecycle_status: ${visible(intent.lifecycleStatus)}`,
    asOf: end?.at ?? intent.sentAt,
    badge: { text: "", tone: "bold" },
    sections: {
      Intent: {
        ...{ intent: id, type: intentType, from, to: to === toAgent ? to : `${toAgent} (${to})` },
        ...{ "request id": requestId, parent, workflow: intent.within?.workflow },
        sent: [{ ago: intent.sentAt }],
        deadline: deadline === null ? null : [{ ago: deadline }],
        acknowledged: intent.acknowledged?.by,
        "waits for": end === null ? waitsOn : null,
        approval,
        ...endFields(intent),
      },
      Payload: { payload: { args: intent.payload } },
      Data: end?.status === "completed" ? { data: { args: end.data } } : null,
    },
    next: [],
  };
}

const intentJson = ({ lifecycleStatus, ...rest }: Intent) => ({ lifecycle_status: lifecycleStatus, ...rest });

function readIntentFilter({ status, ...query }: FlagValues): FlagValues {
  if (status === undefined) return query;
  return {
    ...query,
    status: String(status)
      .toLowerCase()
      .replace(/^canceled$/, "cancelled"),
  };
}

function readAnswer({ data, failed }: FlagValues): FlagValues {
  if (failed === undefined) return { data: data ?? {} };
  if (data === undefined) return { failed };
  throw usage("An intent is completed with a --result, or it has --failed.", "Leave one of them out.");
}

const changing = (
  verb: "answer" | "cancel",
  flags: readonly string[],
  input: (given: FlagValues) => FlagValues,
) =>
  act<Intent>({
    ...{ flags: [...flags, "full"], needs: verb === "cancel" ? flags : [], word: "id", input },
    says: () => [],
    showsCard: true,
    json: intentJson,
  });

export const intentsResource: Resource = {
  name: "intents",
  id: "int",
  summary: "List, show, send, answer and cancel intents",
  details: [
    "intents (or intents list) lists them, newest first.",
    `intents send --type human_approval --to agent://approver --payload '{"task": "Deploy", "risk_level": "high"}'`,
    "intents answer <id> speaks for the recipient; what people are to approve is decided by `holdpoint approve` and `holdpoint reject`.",
    "In a pipe each line is tab-separated: id, life cycle, type, sender, recipient, time, payload.",
  ],
  examples: [`holdpoint intents send --to agent:buyer --type quote --payload '{"item": 7}'`],
  flags: {
    status: { value: "<status>", summary: "list: only those that stand so, such as completed" },
    to: { value: "<address>", summary: "list: for whom; send: agent://<name>, or who approves" },
    from: { value: "<principal>", summary: "list: by whom" },
    limit: { value: "<n>", summary: "list: how many to show; 50 unless set" },
    type: {
      value: "<type>",
      field: "intentType",
      summary: "send: what is asked for, such as human_approval",
    },
    payload: { value: "<json>", summary: "send: what the recipient is told" },
    "request-id": { value: "<id>", summary: "send: the same again under it is the same intent" },
    within: { value: "<span>", summary: "send: how long it may take, such as 7d; for ever unless set" },
    result: { value: "<json>", field: "data", summary: "answer: the data that it is completed with" },
    failed: { value: "<text>", summary: "answer: why it failed instead" },
    reason: { value: "<text>", summary: "cancel: why; it is recorded" },
    full: { summary: "get: long values in full" },
  },
  parts: {
    list: listing<IntentSummary>({
      flags: ["status", "to", "from", "limit"],
      query: readIntentFilter,
      columns: [
        ["ID", ({ id }) => id],
        ["STATUS", ({ lifecycleStatus }) => lifecycleStatus],
        ["TYPE", ({ intentType }) => intentType],
        ["FROM", ({ from }) => from],
        ["TO", ({ to }) => to],
        ["SENT", ({ sentAt }) => ({ at: sentAt })],
        ["PAYLOAD", ({ payload }) => payload],
      ],
      givesWay: ["SENT", "FROM"],
      empty: "No intents.",
    }),
    get: showing<Intent>({ flags: ["full"], word: "id", card: intentCard, json: intentJson }),
    send: act<Intent>({
      flags: ["type", "to", "payload", "request-id", "within"],
      needs: ["type", "to"],
      actor: "from",
      input: ({ to, payload = {}, ...rest }) => ({ ...rest, payload, toAgent: to }),
      says: ({ id, approval }) => [
        `intent_id: ${id}`,
        ...(approval === null ? [] : [`People are asked: holdpoint show ${approval}`]),
      ],
      json: ({ id, approval }) => ({ intent_id: id, approval }),
    }),
    answer: changing("answer", ["result", "failed"], readAnswer),
    cancel: changing("cancel", ["reason"], (given) => given),
  },
};

export const nodesResource: Resource = {
  name: "nodes",
  summary: "List the processes that execute, and what each is running",
  details: [
    "live: it holds its epoch. lapsed: it lost it, and the next process that executes takes its work over. closed and died have ended (--all).",
    "Workflows that wait for people or time are not counted.",
    "In a pipe each line is tab-separated: epoch, status, kind, version, since, workflows, effects, agent, host/pid.",
  ],
  flags: {
    all: { summary: "those that have ended too, newest first" },
    limit: { value: "<n>", summary: "how many to show; 50 unless set" },
  },
  parts: {
    list: listing<FleetNode>({
      flags: ["all", "limit"],
      query: ({ all = false }) => ({ all }),
      columns: [
        ["EPOCH", ({ id }) => id],
        ["STATUS", ({ status }) => status],
        ["KIND", ({ kind }) => kind],
        ["VERSION", ({ version }) => version ?? "-"],
        ["SINCE", ({ openedAt }, now) => formatSpan(now - openedAt)],
        ["WORKFLOWS", ({ workflows }) => String(workflows)],
        ["EFFECTS", ({ effects }) => String(effects)],
        ["AGENT", ({ agent }) => agent],
        ["PROCESS", ({ process }) => process],
      ],
      piped: [
        ...["EPOCH", "STATUS", "KIND", "VERSION", ({ openedAt }: FleetNode) => ({ at: openedAt })],
        ...["WORKFLOWS", "EFFECTS", "AGENT", "PROCESS"],
      ],
      givesWay: ["VERSION", "EFFECTS", "KIND"],
      empty: "No node is running. Servers, workers and programs become nodes at their first call.",
    }),
  },
};
