/** What people and programs are told of: endpoints, the messages to them, and alerts. */
import type { Alert, AlertSummary } from "../../alerts/contract.ts";
import type { CardDocument, RichText } from "../../kernel/terminal.ts";
import { visible } from "../../kernel/text.ts";
import type {
  EndpointSummary,
  EndpointTest,
  EndpointWithSecret,
  MessageSummary,
} from "../../notify/contract.ts";
import { CHANNEL_WORDS } from "../../notify/rules/channel-words.ts";
import { type EndpointTarget, MESSAGE_STATUSES } from "../../notify/stream.ts";
import { act, type FlagValues, listing, type Resource, showing } from "../resource.ts";
import { EXIT, usage } from "../shell/command.ts";
import { formatAgo, formatMoment, formatSpan } from "../shell/terminal.ts";

/** The address of a chat is a secret: only its host is shown. */
function targetText(target: EndpointTarget): string {
  if (target.kind === "mail") return target.to.join(" ");
  return "url" in target ? target.url : `${target.kind} at ${target.host}`;
}

const ADDRESS_KINDS = Object.values(CHANNEL_WORDS).flatMap(({ kind, address }) =>
  address === "people" ? [] : [kind],
);

const secretLines = (secret: string | null) =>
  secret === null
    ? []
    : [
        { exact: `secret ${secret}` },
        { note: "The receiver checks signatures with this secret. It is shown this once." },
      ];

const changing = (verb: string, flags: readonly string[]) =>
  act<EndpointSummary>({
    ...{ verb, flags, word: "id" },
    says({ id, status, target, events }) {
      const word = status === "removed" ? "removed" : `switched ${status}`;
      return `${id} is ${word}: ${targetText(target)}, ${events.join(" ")}`;
    },
  });

const OFFER = ["url", "kind", "to", "event", "name", "owner"];
export const endpointsResource: Resource = {
  name: "endpoints",
  id: "end",
  summary: "List, add and change the endpoints that messages go to",
  details: [
    "endpoints add --url https://hooks.example/holdpoint --event 'approval.*' prints the secret that signs, once.",
    "endpoints add --to role:supervisor --to ops@example.com --event approval.requested sends mail; --to approvers writes to the people who may decide.",
    "endpoints add --url https://hooks.slack.com/services/… --name prod posts to Slack; the address is stored as a secret, and slack://prod names the endpoint.",
    "endpoints rotate <id> makes another secret, or with --url gives a chat another address; endpoints test <id> sends a test message from here.",
    "In a pipe each line of the list is tab-separated: id, status, name, where to, events, owner, added at, why it is off.",
  ],
  examples: ["holdpoint endpoints add --url https://example.com/hook --event 'approval.*'"],
  flags: {
    url: { value: "<url>", summary: "add, change, rotate: an https address, of a webhook or of a chat" },
    kind: {
      value: "<kind>",
      summary: `add: ${ADDRESS_KINDS.slice(0, -1).join(", ")} or ${ADDRESS_KINDS.at(-1)}; by the host of the address unless set`,
    },
    to: {
      value: "<receiver>",
      summary: "add, change: an address, person:<name>, role:<role>, group:<name> or approvers",
      repeatable: true,
    },
    event: {
      value: "<type>",
      field: "events",
      summary: "add, change: what it hears of, such as approval.requested or 'approval.*'; all unless set",
      repeatable: true,
    },
    name: {
      value: "<text>",
      summary: "add, change: what people call it; unique among endpoints of its kind",
    },
    owner: { value: "<principal>", summary: "add, change: whose it is; yours unless set" },
    overlap: {
      value: "<span>",
      mayBeZero: true,
      summary: "rotate: how long the secret before signs too; 24h unless set",
    },
    reason: { value: "<text>", summary: "off, remove: why; it is recorded" },
    all: { summary: "list: also those that were removed" },
  },
  parts: {
    list: listing<EndpointSummary>({
      flags: ["all"],
      read: async ({ hp }, { all }) => [
        ...(await hp.endpoints.list()),
        ...(all === true ? await hp.endpoints.list({ status: "removed" }) : []),
      ],
      columns: [
        ["ID", ({ id }) => id],
        ["STATUS", ({ status }) => status],
        ["NAME", ({ name }) => name],
        ["TO", ({ target }) => targetText(target)],
        ["EVENTS", ({ events }) => events.join(" ")],
        ["OWNER", ({ owner }) => owner],
      ],
      piped: [
        ...["ID", "STATUS", "NAME", "TO", "EVENTS", "OWNER"],
        ({ addedAt }) => ({ at: addedAt }),
        ({ off }) => off?.reason ?? "-",
      ],
      givesWay: ["OWNER"],
      empty: "There are no endpoints.",
    }),
    add: act<EndpointWithSecret>({
      flags: OFFER,
      says: ({ id, target, secret }) => [`Added: ${id}, ${targetText(target)}`, ...secretLines(secret)],
    }),
    change: changing("change", OFFER),
    rotate: act<EndpointWithSecret>({
      flags: ["overlap", "url"],
      word: "id",
      says({ id, secret, secrets }) {
        if (secret === null) return `Rotated: ${id}. Messages go to the new address.`;
        const until = formatMoment(Number(secrets[1]?.until));
        return [`Rotated: ${id}. The secret before signs too until ${until}.`, ...secretLines(secret)];
      },
    }),
    test: act<EndpointTest>({
      word: "id",
      says: ({ message, arrived, status, problem }) =>
        arrived
          ? `Arrived: ${message}, status ${status}.`
          : `Did not arrive: ${message}, ${problem ?? "nothing was sent"}.`,
      exit: ({ arrived }) => (arrived ? EXIT.ok : EXIT.refused),
    }),
    off: changing("switchOff", ["reason"]),
    on: changing("switchOn", []),
    remove: changing("remove", ["reason"]),
  },
};

/** Outcome of the last attempt: a status, or a code. */
const lastAttempt = ({ last }: MessageSummary): string =>
  last === null ? "-" : (last.problem ?? String(last.status ?? "-"));

function readMessageFilter({ status = "any" }: FlagValues): FlagValues {
  if (status === "any" || MESSAGE_STATUSES.some((known) => known === status)) return { status };
  throw usage(`--status "${status}" is not a status.`, `Use ${MESSAGE_STATUSES.join(", ")} or any.`);
}

const messageList = (flags: readonly string[], query: (given: FlagValues) => FlagValues) =>
  listing<MessageSummary>({
    flags,
    query,
    columns: [
      ["ID", ({ id }) => id],
      ["AGE", (one, now) => formatSpan(now - one.madeAt)],
      ["STATUS", ({ status }) => status],
      ["TRIED", ({ attempts }) => String(attempts)],
      ["LAST", lastAttempt],
      ["TYPE", ({ type }) => type],
      ["TO", ({ endpoint, to }) => to ?? endpoint],
    ],
    piped: [
      ...["ID", "STATUS", ({ madeAt }: MessageSummary) => ({ at: madeAt }), "TRIED", "LAST"],
      ({ dueAt }) => ({ at: dueAt }),
      "TYPE",
      ({ endpoint }) => endpoint,
      ({ to }) => to ?? "-",
      ({ reason }) => reason ?? "-",
    ],
    givesWay: ["TRIED", "LAST"],
    empty: ({ status }) => (status === "any" ? "There are no messages." : `No message is ${status}.`),
  });

export const notificationsResource: Resource = {
  name: "notifications",
  group: "messages",
  id: "msg",
  summary: "List outgoing messages; retry one that was given up",
  details: [
    "In a pipe each line is tab-separated: id, status, made at, attempts, last status or problem, due at, type, endpoint, receiver, why it was given up.",
    "Messages are sent by a process that delivers; `holdpoint endpoints` says where to.",
  ],
  examples: ["holdpoint notifications dead", "holdpoint notifications retry msg_01K9ZQ"],
  flags: {
    status: { value: "<status>", summary: "list: waiting, delivered, dead, dropped or any; any unless set" },
    limit: { value: "<n>", summary: "how many to show; 50 unless set" },
  },
  parts: {
    list: messageList(["status", "limit"], readMessageFilter),
    dead: messageList(["limit"], () => ({ status: "dead" })),
    retry: act({
      word: "id",
      says: (_message, { id }) =>
        `It is tried again: ${id}, under the same id. A process that delivers sends it.`,
      json: (message) => ({ message }),
    }),
  },
};

export const SEVERITY_TONES = { info: "bold", warning: "yellow", critical: "red" } as const;

/** Who acknowledged it first, and their note. */
const seenText = ({ by, note, at }: NonNullable<Alert["acknowledged"]>, now: number): string =>
  `${formatAgo(at, now)} by ${by}${note === null ? "" : `: ${note}`}`;

function nextCommands({ id, status, approval, acknowledged, workflow }: Alert): readonly string[] {
  return [
    ...(approval === null ? [] : [`show ${approval}`]),
    ...(acknowledged === null && status === "standing" ? [`alerts ack ${id}`] : []),
    ...(workflow === null ? [] : [`show ${workflow}`]),
  ];
}

function alertCard(alert: Alert, now: number): CardDocument {
  const { id, severity, clearedAt, acknowledged } = alert;
  const isCleared = clearedAt !== null;
  const when = (at: number): RichText => [{ ago: at }];
  return {
    title: `Alert ${id}`,
    asOf: clearedAt ?? alert.raisedAt,
    badge: isCleared
      ? { text: "over", tone: "green" }
      : { text: visible(severity), tone: SEVERITY_TONES[severity] },
    sections: {
      "What was found": { about: alert.subject, says: alert.says, figures: { tree: { ...alert.figures } } },
      "By which rule": { monitor: alert.monitor, rule: `${alert.rule}, of kind ${alert.kind}`, severity },
      When: {
        raised: when(alert.raisedAt),
        over: isCleared ? when(clearedAt) : "not yet",
        seen: acknowledged === null ? "not yet" : seenText(acknowledged, now),
      },
    },
    next: nextCommands(alert),
  };
}

/** An alert that somebody has seen already is not written again. */
function seenWords(alert: Alert, { acknowledged: before }: Alert, by: string, now: number): string {
  const first = before ?? (alert.acknowledged?.by === by ? null : alert.acknowledged);
  const state = alert.status === "standing" ? "Active until its condition ends." : "Cleared.";
  if (first === null) return `Seen: ${alert.id}. ${state}`;
  return `Seen already: ${alert.id}, ${seenText(first, now)}. Nothing was written. ${state}`;
}

export const alertsResource: Resource = {
  name: "alerts",
  id: "alr",
  summary: "List alerts of monitors; acknowledge one",
  details: [
    "In a pipe each line is tab-separated: id, standing or cleared, severity, raised at, seen by, monitor, rule, subject, what it says.",
    "`holdpoint show <id>` shows one in full. An alert that has stopped a workflow is decided on with `holdpoint approvals`.",
  ],
  examples: ['holdpoint alerts ack alr_01K9ZQ --note "known"'],
  flags: {
    all: { summary: "also cleared alerts" },
    limit: { value: "<n>", summary: "how many to show; 50 unless set" },
    note: { value: "<text>", summary: "with ack: what you have to say to it" },
    full: { summary: "show: long values in full" },
  },
  parts: {
    list: listing<AlertSummary>({
      flags: ["all", "limit"],
      query: ({ all }) => ({ status: all === true ? "any" : "standing" }),
      columns: [
        ["ID", ({ id }) => id],
        ["AGE", ({ raisedAt }, now) => formatSpan(now - raisedAt)],
        ["SEVERITY", ({ status, severity }) => (status === "cleared" ? "over" : severity)],
        ["SEEN BY", ({ acknowledgedBy }) => acknowledgedBy ?? "-"],
        ["RULE", ({ monitor, rule }) => `${monitor}: ${rule}`],
        ["WHAT", ({ subject, says }) => `${subject}: ${says}`],
      ],
      piped: [
        "ID",
        ({ status }) => status,
        ({ severity }) => severity,
        ({ raisedAt }) => ({ at: raisedAt }),
        "SEEN BY",
        ({ monitor }) => monitor,
        ({ rule }) => rule,
        ({ subject }) => subject,
        ({ says }) => says,
      ],
      givesWay: ["SEEN BY", "RULE"],
      empty: ({ status }) => (status === "any" ? "There were no alerts yet." : "There are no active alerts."),
    }),
    show: showing<Alert>({ word: "id", flags: ["full"], card: alertCard, json: (alert) => ({ alert }) }),
    ack: act<Alert>({
      flags: ["note"],
      word: "id",
      verb: "acknowledge",
      reads: "before",
      says: (alert, { item, person, now }) => seenWords(alert, item as Alert, person, now),
      json: (alert) => ({ alert }),
    }),
  },
};
