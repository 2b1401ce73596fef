/**
 * The only error type and its table of codes. docs/reference/errors.md is tested against the table. Refusals by policy,
 * people, deadlines, budgets and the kill switch are not errors: they are events, and are returned as answers.
 */

type CodeFacts = {
  /** HTTP status on the wire. */
  readonly status: number;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** What happened to the data. */
  readonly data: string;
  /** What to do next. */
  readonly next: string;
};

const NOTHING = "Nothing was written.";

export const ERROR_CODES = {
  invalid_input: { status: 400, retryable: false, data: NOTHING, next: "Correct the value and call again." },
  invalid_args: {
    status: 400,
    retryable: false,
    data: NOTHING,
    next: "Send arguments that fit the tool's input schema.",
  },
  invalid_json: {
    status: 400,
    retryable: false,
    data: NOTHING,
    next: "Send strict JSON: unique keys, safe integers, valid Unicode, at most 64 levels.",
  },
  payload_too_large: {
    status: 413,
    retryable: false,
    data: NOTHING,
    next: "Send less, or store the bytes elsewhere and send a reference.",
  },
  reserved_key: {
    status: 400,
    retryable: false,
    data: NOTHING,
    next: "Rename the key: names that start with $artifact or $secret are Holdpoint's own.",
  },
  async_schema: {
    status: 400,
    retryable: false,
    data: NOTHING,
    next: "Use a schema that validates synchronously; do look-ups inside the tool.",
  },
  unknown_tool: {
    status: 404,
    retryable: false,
    data: NOTHING,
    next: "Register the tool with hp.gate() before calling it.",
  },
  package_missing: {
    status: 500,
    retryable: false,
    data: NOTHING,
    next: "Install the package beside holdpoint.",
  },
  nested_call: {
    status: 409,
    retryable: false,
    data: "Nothing was written for the inner call.",
    next: "Call the tool in the definition of a workflow, not inside another effect or a step.",
  },
  tool_conflict: { status: 409, retryable: false, data: NOTHING, next: "Give each tool its own name." },
  unknown_id: {
    status: 404,
    retryable: false,
    data: NOTHING,
    next: "Check the id; `holdpoint approvals` lists what waits.",
  },
  unauthenticated: {
    status: 401,
    retryable: false,
    data: NOTHING,
    next: "Send a key that is valid now as Authorization: Bearer, or log in.",
  },
  forbidden: {
    status: 403,
    retryable: false,
    data: NOTHING,
    next: "Use a credential whose roles allow it, or ask a person who has them.",
  },
  foreign_origin: {
    status: 403,
    retryable: false,
    data: NOTHING,
    next: "Call the server by the address it listens on, or start it with --allow-host <name>.",
  },
  unknown_route: {
    status: 404,
    retryable: false,
    data: NOTHING,
    next: "Look at /docs, which lists every route.",
  },
  unsupported_media_type: {
    status: 415,
    retryable: false,
    data: NOTHING,
    next: "Send JSON with Content-Type: application/json.",
  },
  idempotency_conflict: {
    status: 409,
    retryable: false,
    data: NOTHING,
    next: "Use a new Idempotency-Key for another request.",
  },
  answer_unknown: {
    status: 409,
    retryable: false,
    data: "An earlier request with this key was begun, and what it did is not known.",
    next: "Check the current state, then ask again under a new Idempotency-Key if it is still wanted.",
  },
  rate_limited: {
    status: 429,
    retryable: true,
    data: NOTHING,
    next: "Wait for the seconds in Retry-After, then call again.",
  },
  caller_gone: {
    status: 408,
    retryable: true,
    data: "Nothing was started; what was approved can still be used.",
    next: "Ask again, and stay connected until the answer is there.",
  },
  server_busy: {
    status: 503,
    retryable: true,
    data: NOTHING,
    next: "Wait for the seconds in Retry-After, then call again; or ask without waiting.",
  },
  unexpected: {
    status: 500,
    retryable: false,
    data: "It is not known whether anything was written.",
    next: "Check the current state before calling again, and report this with its correlation id.",
  },
  request_conflict: {
    status: 409,
    retryable: false,
    data: "The refused call was recorded; nothing ran.",
    next: "Use a new request id for a new action.",
  },
  call_pending: {
    status: 409,
    retryable: true,
    data: "Nothing ran; the call waits.",
    next: "Call again with the same request id to wait for the answer.",
  },
  call_failed: {
    status: 422,
    retryable: false,
    data: "The effect was started and was proven not applied.",
    next: "Correct the cause and call again under a new request id.",
  },
  call_refused: {
    status: 403,
    retryable: false,
    data: "The refusal was recorded; nothing ran.",
    next: "Read the reason; propose something else under a new request id.",
  },
  call_in_doubt: {
    status: 409,
    retryable: false,
    data: "The doubt is recorded; nothing is retried.",
    next: "Find out what happened, then have a person resolve the effect.",
  },
  report_conflict: {
    status: 409,
    retryable: false,
    data: "The refused report was recorded; the outcome did not change.",
    next: "Tell a person what happened: only they can correct what was reported.",
  },
  decision_conflict: {
    status: 409,
    retryable: false,
    data: "The refused decision was recorded; the approval did not change.",
    next: "Look at the approval's current state before deciding again.",
  },
  not_eligible: {
    status: 403,
    retryable: false,
    data: "The refused vote was recorded; the approval did not change.",
    next: "Ask a person whom the approval names.",
  },
  edit_refused: {
    status: 422,
    retryable: false,
    data: "The refused edit was recorded; the approval still waits and nothing ran.",
    next: "Edit differently, approve as proposed, or reject.",
  },
  last_admin: {
    status: 409,
    retryable: false,
    data: NOTHING,
    next: "Make another person an admin first: `holdpoint people change <person> --role admin`.",
  },
  wrong_state: {
    status: 409,
    retryable: false,
    data: NOTHING,
    next: "Look at the current state with `holdpoint show`.",
  },
  tenant_closed: {
    status: 409,
    retryable: false,
    data: NOTHING,
    next: "Work in another tenant; what this one holds can still be read and verified.",
  },
  not_in_doubt: {
    status: 409,
    retryable: false,
    data: NOTHING,
    next: "Only effects in doubt can be resolved; `holdpoint in-doubt` lists them.",
  },
  policy_invalid: {
    status: 422,
    retryable: false,
    data: "Nothing was written; a policy that was in force before is still in force.",
    next: "Correct what is named; `holdpoint policy check <file>` says the same again.",
  },
  unsatisfiable_quorum: {
    status: 400,
    retryable: false,
    data: NOTHING,
    next: "Name at least as many eligible people as the quorum asks for, not counting the requester.",
  },
  secret_missing: {
    status: 400,
    retryable: false,
    data: NOTHING,
    next: "Set the environment variable, or store the secret again.",
  },
  secret_transformed: {
    status: 400,
    retryable: false,
    data: NOTHING,
    next: "Let the schema pass secrets through unchanged.",
  },
  unknown_event: {
    status: 503,
    retryable: false,
    data: "The stream was left alone.",
    next: "Ask a node of a version of Holdpoint at least as new as the one that wrote this stream.",
  },
  body_erased: {
    status: 410,
    retryable: false,
    data: "The entry's body was erased; its chain still verifies.",
    next: "Work with the entries that are left.",
  },
  broken_rule: {
    status: 500,
    retryable: false,
    data: "The transaction was given up; nothing was written.",
    next: "Report this: a rule of Holdpoint's own did not hold.",
  },
  closed: {
    status: 409,
    retryable: false,
    data: NOTHING,
    next: "Open Holdpoint again: this instance was closed.",
  },
  epoch_ended: {
    status: 503,
    retryable: true,
    data: "Nothing was started.",
    next: "Call again with the same request id: the process goes on under another epoch, and what it had begun is looked into.",
  },
  store_busy: {
    status: 503,
    retryable: true,
    data: NOTHING,
    next: "Try again; another process holds the store's write lock for unusually long.",
  },
  store_full: { status: 507, retryable: true, data: NOTHING, next: "Free disk space, then call again." },
  store_read_only: {
    status: 503,
    retryable: false,
    data: NOTHING,
    next: "Make the store's folder and file writable for this user.",
  },
  store_corrupt: {
    status: 500,
    retryable: false,
    data: "The file was left as it is.",
    next: "Keep a copy, then restore a backup; an export made earlier can still be verified offline.",
  },
  store_newer: {
    status: 503,
    retryable: false,
    data: "The file was left as it is.",
    next: "Run the version of Holdpoint that wrote it, or a newer one.",
  },
  store_unsuitable: {
    status: 500,
    retryable: false,
    data: "The file was left as it is.",
    next: "Put the store on a local disk with working locks, and run Node 24 or newer.",
  },
  store_foreign: {
    status: 500,
    retryable: false,
    data: "The file was left as it is.",
    next: "Point Holdpoint at a folder of its own.",
  },
  store_restored: {
    status: 409,
    retryable: false,
    data: "Nothing was started, and nothing was changed.",
    next: "Keep other programs stopped, look at `holdpoint restored`, then have a person run `holdpoint restored --acknowledge`.",
  },
  store_unavailable: {
    status: 503,
    retryable: true,
    data: NOTHING,
    next: "Check that the store's folder exists and can be read.",
  },
  commit_unknown: {
    status: 503,
    retryable: true,
    data: "It is not known whether it was written.",
    next: "Call again with the same request id: what was written is found, not repeated.",
  },
  key_unusable: {
    status: 500,
    retryable: false,
    data: NOTHING,
    next: "Point HOLDPOINT_KEY_FILE at a readable key file, or remove it to have a new key made.",
  },
  key_mismatch: {
    status: 409,
    retryable: false,
    data: NOTHING,
    next: "Set HOLDPOINT_KEY_FILE to the key that sealed this store.",
  },
} as const satisfies Record<string, CodeFacts>;

export type ErrorCode = keyof typeof ERROR_CODES;

export class HoldpointError extends Error {
  override readonly name = "HoldpointError";
  readonly code: ErrorCode;
  readonly status: number;
  readonly retryable: boolean;
  /** What was wrong, without the advice that `message` adds. */
  readonly what: string;
  readonly data: string;
  readonly next: string;
  /** Machine-readable details, for example the current state of an approval. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, what: string, more: ErrorMore = {}) {
    const facts = ERROR_CODES[code];
    const { data = facts.data, next = facts.next } = more;
    super(`${what} ${data} ${next} [${code}]`, more.cause === undefined ? {} : { cause: more.cause });
    this.code = code;
    this.status = facts.status;
    this.retryable = facts.retryable;
    this.what = what;
    this.data = data;
    this.next = next;
    this.details = more.details ?? {};
  }
}

type ErrorMore = {
  readonly cause?: unknown;
  /** Override the code's texts about the data and the next step. */
  readonly data?: string;
  readonly next?: string;
  readonly details?: Readonly<Record<string, unknown>>;
};

export function isHoldpointError(error: unknown, code?: ErrorCode): error is HoldpointError {
  return error instanceof HoldpointError && (code === undefined || error.code === code);
}

/** Advice for an unknown workflow id. */
export const WORKFLOW_ID_HINT = "Check the id; `holdpoint workflows` lists them.";
