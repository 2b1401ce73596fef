// The capabilities of src/, and the files of the old rooms that each of them still has (docs: CONTRIBUTING.md, "Counters").

/**
 * `homes`: where the capability lives once it is converted; the first that exists counts.
 * `old`: globs of its files in the old rooms; `*` is within a folder, `**` any depth, `{a,b}` one of these.
 */
export const CAPABILITIES = [
  {
    name: "grants",
    old: [
      "core/grant/**",
      "engine/{grants,check-grant}",
      "views/grants",
      "server/routes/grants",
      "cli/{grants,grant-card}",
    ],
  },
  {
    name: "approvals",
    old: [
      "core/{approval,card}/**",
      "core/{binding,preview}",
      "engine/card/**",
      "engine/{approval-lists,approval-page,approvals,attention,check-edit,comment,decide-all,delegate,extend,follow-approvals,stages,try-edit,vote}",
      "views/approvals",
      "server/routes/{attention,card,comments,together}",
      "server/{approval-rows,card-on-wire,card-wire,stages-wire,surroundings}",
      "cli/{approvals,approve,approve-many,answer,await-review,card,card-lines,comment,delegate,extend,print-comments,question-card,reject,revoke,stage-text,watch-approvals}",
      "cli/remote/approvals",
    ],
  },
  {
    name: "budgets",
    old: [
      "core/{budget,budget-name,money}",
      "engine/budgets",
      "views/budgets",
      "server/routes/budgets",
      "cli/budgets",
    ],
  },
  {
    name: "kill-switch",
    old: [
      "core/switch",
      "engine/{free-switches,operate,stops}",
      "views/switches",
      "server/routes/kill-switch",
      "cli/{go,stop,switch-scope}",
    ],
  },
  {
    name: "people",
    old: [
      "core/{deciders,people,principal,roster,scopes}",
      "engine/identity/{check-identity,instance,people}",
      "server/routes/people",
      "cli/{people,parts}",
    ],
  },
  {
    name: "keys",
    homes: ["src/keys", "src/people/keys"],
    old: [
      "core/key/**",
      "core/credential",
      "engine/identity/{authenticate,keys}",
      "views/keys",
      "server/routes/keys",
      "cli/keys",
    ],
  },
  {
    name: "sessions",
    homes: ["src/sessions", "src/people/sessions"],
    old: [
      "core/session/**",
      "engine/identity/{logins,sessions}",
      "views/sessions",
      "server/routes/{session,sessions}",
      "server/first-login",
      "cli/{login,login-link,logout,whoami}",
    ],
  },
  {
    name: "tenants",
    homes: ["src/tenants", "src/people/tenants"],
    old: [
      "core/tenant/**",
      "engine/tenant/**",
      "server/{tenants,routes/tenants}",
      "cli/tenants",
      "cli/remote/tenants",
      "office",
    ],
  },
  {
    name: "policy",
    old: [
      "core/{policy,backtest}/**",
      "core/{adopt-policy,approver-names,policy-record,policy-use,remarks,review,stages,stricter,verdict}",
      "engine/{policy,backtest}/**",
      "engine/{fresh-suggestions,past-calls,policies,rehearse,suggest-rules}",
      "views/policies",
      "server/routes/{policies,policy-trials}",
      "server/trials-wire",
      "cli/policy/**",
      "cli/policy-words",
    ],
  },
  {
    name: "effects",
    old: [
      "core/action/**",
      "core/tool-rules",
      "engine/{action-rows,actions,attempt,check-call,define-tool,execute,gate,move,perform,perform-in-transaction,perform-read,prepare-args,preview,probe,receipts,recover,tool}",
      "views/actions",
      "server/routes/{actions,receipts}",
      "cli/{in-doubt,receipt,resolve}",
    ],
  },
  {
    name: "workflows",
    old: [
      "core/workflow/**",
      "engine/workflow/**",
      "engine/{capture,irreversible-rows}",
      "views/workflows",
      "server/routes/{definitions,workflows}",
      "server/asking",
      "cli/{cancel,checkpoint-card,fork,load-definitions,load-workflow,rollback,run,run-progress,show-workflow,snapshot-layers,start,timeline,workflow-words,workflows}",
      "cli/remote/work",
    ],
  },
  {
    name: "agents",
    old: [
      "engine/outside/**",
      "server/routes/outside",
      "server/{agent,outside-wire,seed-surface,submit}",
      "server/routes/seed",
    ],
  },
  {
    name: "intents",
    homes: ["src/intents", "src/agents/intents"],
    old: [
      "core/intent/**",
      "engine/intent/**",
      "views/intents",
      "server/routes/{intent-stream,intent-waits,intents}",
      "server/events/intent-listener",
      "cli/intents",
      "cli/scenario/**",
    ],
  },
  {
    name: "alerts",
    old: [
      "core/monitor/**",
      "engine/monitor/**",
      "views/alerts",
      "server/routes/alerts",
      "cli/{alerts,alert-card,load-monitor,monitor}",
    ],
  },
  {
    name: "notify",
    old: [
      "core/message/**",
      "engine/message/**",
      "views/messages",
      "server/routes/{endpoints,messages}",
      "cli/{endpoints,notifications}",
    ],
  },
  { name: "supervise", old: ["core/supervise/**", "engine/supervise/**", "models/**"] },
  {
    name: "nodes",
    homes: ["src/nodes", "src/runtime/nodes"],
    old: [
      "core/epoch",
      "engine/{epoch,lives,nodes}",
      "views/nodes",
      "server/routes/nodes",
      "cli/{node-process,nodes}",
    ],
  },
  {
    name: "journal",
    old: [
      "core/{entry,export-line,finding,jws,known-event,merkle,read-header,receipt-jws,restore,seal,verify-entry,verify-export,verify-journal,verify-seals}",
      "engine/{history,journal,restored,seal,witness}",
      "server/routes/journal",
      "cli/{export,journal,restored,seal,verify}",
    ],
  },
];

/** The files that make a folder one of the new shape: the stream, and one of the other two. */
const STREAM = "stream.ts";
const VERBS = ["contract.ts", "verbs.ts"];

function patternFor(glob) {
  const source = glob.replaceAll(/\*\*|\*|[{},.]/g, (part) => {
    const forms = { "**": ".*", "*": "[^/]*", "{": "(?:", "}": ")", ",": "|", ".": "\\." };
    return forms[part];
  });
  return new RegExp(`^src/${source}(?:\\.ts)?$`);
}

/** `state`: converted, left, or both (the new folder is there beside files of the old rooms). */
export function inspectCapability({ name, homes = [`src/${name}`], old }, files) {
  const patterns = old.map(patternFor);
  const oldFiles = files.filter((file) => patterns.some((pattern) => pattern.test(file)));
  const findShape = (home) => [STREAM, ...VERBS].filter((file) => files.includes(`${home}/${file}`));
  const shape = homes.map(findShape).find((found) => found.length > 0) ?? [];
  const isWhole = shape.includes(STREAM) && shape.some((file) => VERBS.includes(file));
  if (shape.length > 0 && oldFiles.length > 0) return { name, state: "both", oldFiles };
  return { name, state: isWhole ? "converted" : "left", oldFiles };
}
