/** What an embedding program holds in its hands: verbs over a runtime that opens itself at the first use. */

import {
  type Approval,
  approveApproval,
  cancelApproval,
  type Decided,
  type Decision,
  getApproval,
  type Rejection,
  rejectApproval,
  revokeApproval,
} from "../approvals/decide.ts";
import type { Page } from "../approvals/lists.ts";
import { type ApprovalList, countApprovals, followApprovals, listApprovals } from "../approvals/lists.ts";
import type { ListedStatus } from "../approvals/state.ts";
import {
  type BatchAnswer,
  type BatchItem,
  commentApproval,
  type Decider,
  decideAll,
  delegateApproval,
  extendApproval,
  type Handing,
  type MoreTime,
  type Remark,
  takeBackApproval,
} from "../approvals/verbs.ts";
import type { Receipt } from "../core/action/receipt.ts";
import type { LiveAction } from "../core/action/state.ts";
import { HoldpointError } from "../core/errors.ts";
import type { Money } from "../core/money.ts";
import type { ReceiptBundle } from "../core/receipt-jws.ts";
import type { Seal } from "../core/seal.ts";
import type { SecretHandle } from "../core/secret-handle.ts";
import type { Stoppable, SwitchState } from "../core/switch.ts";
import type { Report } from "../core/verify-journal.ts";
import type { SavedSeal } from "../core/verify-seals.ts";
import type { Rebuilt } from "../stores/store.ts";
import {
  type Action,
  type ActionList,
  type ActionPage,
  type ActionSummary,
  abandonedActions,
  getAction,
  listActions,
} from "./actions.ts";
import {
  type BudgetList,
  type BudgetPage,
  type BudgetState,
  getBudget,
  listBudgets,
  setBudget,
} from "./budgets.ts";
import {
  checkActionPage,
  checkApprovalPage,
  checkDecision,
  checkFields,
  checkId,
  checkListener,
  checkSignal,
  checkStatus,
  checkVerification,
} from "./check-call.ts";
import { findIds } from "./find-ids.ts";
import {
  exportJournal,
  type JournalRecord,
  readJournal,
  type VerifyOptions,
  verifyStore,
} from "./journal.ts";
import { getSwitch, resolveDoubt, type Said, setSwitch } from "./operate.ts";
import { copyEdit } from "./prepare-args.ts";
import { getReceipt, signedReceipt } from "./receipts.ts";
import { freshId, type Opening } from "./runtime.ts";
import { savedSeal, sealTenant } from "./seal.ts";

export type { Opening } from "./runtime.ts";

export type Approvals = {
  /** Oldest first; `next` is the cursor of the following page. */
  list(page?: Page): Promise<ApprovalList>;
  /** How many have a status; `pending` unless set. */
  count(status?: ListedStatus): Promise<number>;
  get(id: string): Promise<Approval>;
  /** Ids that begin with a text, at most ten. */
  find(beginning: string): Promise<readonly string[]>;
  /** Ids of approvals as they change, by any process. The first turn comes at once and is empty: read then what stands. */
  follow(signal: AbortSignal): AsyncGenerator<readonly string[]>;
  /**
   * `edit` replaces fields of the arguments; the edited action goes through schema and policy again. Of a checkpoint it
   * replaces fields of the outputs, and of a question it is the answer.
   */
  approve(id: string, decision: Decision & { readonly edit?: unknown }): Promise<Decided>;
  /** `final`, of a checkpoint: the workflow is rolled back and not tried again. */
  reject(id: string, decision: Rejection): Promise<Decided>;
  /** Asks for more before it is decided, or answers that: by somebody who may decide it, or the agent that asked. */
  comment(id: string, remark: Remark): Promise<void>;
  /** Takes a pending question back. */
  cancel(id: string, said: Said): Promise<void>;
  /** Takes a decision back that was not used yet. */
  revoke(id: string, said: Said): Promise<void>;
  /** Gives people more time, by `byMs` or `until` a moment; answers the new deadline. Votes that were cast stay. */
  extend(id: string, more: MoreTime): Promise<{ readonly decideBy: number }>;
  /** Somebody who may decide now hands their seat in the present stage to somebody else. */
  delegate(id: string, handing: Handing): Promise<void>;
  /** Takes a seat back that was handed over, while nobody has decided with it. */
  takeBack(id: string, said: Said & { readonly via?: string }): Promise<void>;
  /** Up to 100 decisions of one person, each on its own binding and with its own answer; one that fails stops no other. */
  decideAll(items: readonly BatchItem[], who: Decider): Promise<readonly BatchAnswer[]>;
};

const APPROVAL = "An approval";
const ACTION = "An action";
const SAID = "What is said";
const WORDS = ["by", "reason"];

export function approvalsOf(open: Opening): Approvals {
  return {
    list: async (page = {}) => listApprovals(await open(), checkApprovalPage(page)),
    async count(status) {
      checkStatus(status);
      return countApprovals(await open(), status);
    },
    get: async (id) => getApproval(await open(), checkId(APPROVAL, id)),
    find: async (beginning) => findIds(await open(), "approvals", checkId(APPROVAL, beginning)),
    async *follow(signal) {
      checkSignal(signal);
      yield* followApprovals(await open(), signal);
    },
    async approve(id, decision) {
      const { edit, ...said } = checkDecision(decision, ["note", "edit", "shown"]);
      const copy = edit === undefined ? said : { ...said, edit: copyEdit(edit) };
      return approveApproval(await open(), checkId(APPROVAL, id), copy);
    },
    reject: async (id, decision) =>
      rejectApproval(
        await open(),
        checkId(APPROVAL, id),
        checkDecision(decision, ["reason", "final", "shown"]),
      ),
    comment: async (id, remark) =>
      commentApproval(
        await open(),
        checkId(APPROVAL, id),
        checkFields("A comment", remark, ["by", "text", "via"]),
      ),
    cancel: async (id, said) =>
      cancelApproval(await open(), { ...checkFields(SAID, said, WORDS), approval: checkId(APPROVAL, id) }),
    revoke: async (id, said) =>
      revokeApproval(await open(), { ...checkFields(SAID, said, WORDS), approval: checkId(APPROVAL, id) }),
    extend: async (id, more) =>
      extendApproval(
        await open(),
        checkId(APPROVAL, id),
        checkFields("More time", more, ["by", "byMs", "until", "via"]),
      ),
    delegate: async (id, handing) =>
      delegateApproval(
        await open(),
        checkId(APPROVAL, id),
        checkFields("A delegation", handing, ["by", "to", "reason", "via"]),
      ),
    takeBack: async (id, said) =>
      takeBackApproval(await open(), checkId(APPROVAL, id), checkFields(SAID, said, [...WORDS, "via"])),
    decideAll: async (items, who) =>
      decideAll(await open(), items, checkFields("Who decides", who, ["by", "via"])),
  };
}

export type Receipts = {
  /** By action, effect or request id; undefined while there is no outcome. */
  get(id: string): Promise<Receipt | undefined>;
  /** Signed, with the proof that the journal which holds it was sealed. */
  signed(id: string): Promise<ReceiptBundle | undefined>;
};

export function receiptsOf(open: Opening): Receipts {
  return {
    get: async (id) => getReceipt(await open(), id),
    signed: async (id) => signedReceipt(await open(), id),
  };
}

export type Actions = {
  get(id: string): Promise<Action>;
  list(page: ActionPage): Promise<ActionList>;
  /** Ids that begin with a text, at most ten. */
  find(beginning: string): Promise<readonly string[]>;
  /** Effects whose process is gone and which wait for one that has the tool. */
  abandoned(): Promise<readonly ActionSummary[]>;
  /** A person's word on an effect in doubt. */
  resolve(effect: string, said: Said & { readonly status: "applied" | "not_applied" }): Promise<LiveAction>;
};

export function actionsOf(open: Opening): Actions {
  return {
    get: async (id) => getAction(await open(), id),
    list: async (page) => listActions(await open(), checkActionPage(page)),
    find: async (beginning) => findIds(await open(), "actions", checkId(ACTION, beginning)),
    abandoned: async () => abandonedActions(await open()),
    resolve: async (effect, said) =>
      resolveDoubt(await open(), checkId("An effect", effect), checkFields(SAID, said, [...WORDS, "status"])),
  };
}

export type Journal = {
  /** Everything about an action, an approval or a workflow, in commit order. */
  read(id: string): Promise<readonly JournalRecord[]>;
  /** Lines of NDJSON that the separate verifier checks. */
  export(): AsyncGenerator<string>;
  verify(options?: Partial<VerifyOptions>): Promise<Report>;
  /** Seals what moved since the last seal, now. */
  seal(): Promise<Seal | undefined>;
  /** Seals now and answers the last seal with its key, for keeping elsewhere; undefined while there is no entry. */
  savedSeal(): Promise<SavedSeal | undefined>;
  rebuildViews(progress?: (done: number, total: number) => void): Promise<Rebuilt>;
};

export function journalOf(open: Opening): Journal {
  return {
    read: async (id) => readJournal(await open(), checkId(ACTION, id)),
    async *export() {
      const runtime = await open();
      yield* exportJournal(runtime, await runtime.knownKeys());
    },
    async verify(options = {}) {
      checkVerification(options);
      const runtime = await open();
      return verifyStore(runtime, { ...options, keys: options.keys ?? (await runtime.knownKeys()) });
    },
    seal: async () => sealTenant(await open()),
    savedSeal: async () => savedSeal(await open()),
    async rebuildViews(progress) {
      checkListener(progress);
      return (await open()).store.rebuildViews(progress);
    },
  };
}

export type Budgets = {
  /** Opens a budget or changes its limit. */
  limit(id: string, limit: Money): Promise<void>;
  get(id: string): Promise<BudgetState>;
  /** Those that were opened, in the order in which they came. */
  list(page?: BudgetPage): Promise<BudgetList>;
};

export function budgetsOf(open: Opening): Budgets {
  return {
    async limit(id, limit) {
      const runtime = await open();
      await setBudget(runtime, id, limit, runtime.agent);
    },
    get: async (id) => getBudget(await open(), id),
    list: async (page = {}) => listBudgets(await open(), page),
  };
}

export type KillSwitch = {
  /** Stops every new effect of the tenant, of one agent or service, or of one workflow. Answers whether anything changed. */
  stop(said: Said & Stoppable): Promise<boolean>;
  go(said: Said & Stoppable): Promise<boolean>;
  /** Whether the tenant, or one agent, service or workflow, is stopped; by whom, when and why. */
  stopped(whose?: string | Stoppable): Promise<SwitchState>;
};

const STOPPING = [...WORDS, "agent", "workflow"];

export function killSwitchOf(open: Opening): KillSwitch {
  return {
    stop: async (said) => setSwitch(await open(), true, checkFields(SAID, said, STOPPING)),
    go: async (said) => setSwitch(await open(), false, checkFields(SAID, said, STOPPING)),
    stopped: async (whose) => getSwitch(await open(), whose),
  };
}

/** Keeps a value as an encrypted row and answers its handle. */
export async function putSecret(open: Opening, value: string): Promise<SecretHandle> {
  if (typeof value !== "string" || value === "")
    throw new HoldpointError("invalid_input", "A secret is a text that is not empty.");
  const runtime = await open();
  return runtime.secrets.put(freshId(runtime, "sec"), value);
}
