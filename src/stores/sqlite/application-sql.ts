/**
 * Decisions together with the application's own tables, in the journal's transaction. An authorizer denies the
 * application's SQL access to Holdpoint's tables (`hp_…`), to settings and to the transaction itself. SQL can still end
 * the transaction (`OR ROLLBACK`, `RAISE(ROLLBACK)`, a full disk). No statement runs after that, because it would
 * commit by itself. The round then fails, even if its decision succeeded, and nothing of it is written.
 */
import { constants, type DatabaseSync, type StatementSync } from "node:sqlite";
import { HoldpointError } from "../../kernel/errors.ts";
import type { DecideResult, DecisionScope, Needs } from "../../kernel/transaction.ts";
import { checkStoredText, planAtOnce } from "../decision.ts";
import type { SqlTransaction } from "../store.ts";
import { isConstraint, translateSqliteError } from "./errors.ts";
import type { PreparedWrite, Writer } from "./group-commit.ts";
import { type SqliteJournal, sqliteContext, writeSqlitePlan } from "./journal.ts";

type DecideWithSql<Result> = (sight: DecisionScope, sql: SqlTransaction) => DecideResult<Result>;

/** An error thrown by the decision is the application's own and is rethrown unchanged; other errors are the store's. */
type SqlAnswer<Result> =
  | { readonly kind: "result"; readonly result: Result }
  | { readonly kind: "thrown"; readonly error: unknown };

export function transactWithSql<Result>(
  { journal, writer }: { journal: SqliteJournal; writer: Writer },
  tenant: string,
  needs: Needs,
  decide: DecideWithSql<Result>,
): Promise<SqlAnswer<Result>> {
  checkStoredText("tenant", tenant);
  return new Promise((resolve, reject) => {
    const thrown = new Set<unknown>();
    const prepare = (): PreparedWrite => {
      const plan = planAtOnce(sqliteContext(journal, tenant), needs, (sight) =>
        inRound(journal.db, (sql) => noteThrown(thrown, () => decide(sight, sql))),
      );
      const answer = () => resolve({ kind: "result", result: plan.result });
      return { write: () => writeSqlitePlan(journal, tenant, plan), answer };
    };
    const refuse = (error: unknown) =>
      thrown.has(error)
        ? resolve({ kind: "thrown", error })
        : reject(isConstraint(error) ? brokenAtCommit(error) : error);
    writer.submit({ prepare, refuse, alone: true });
  });
}

/** Only the application's tables have constraints that are checked at the commit. */
function brokenAtCommit(cause: unknown): HoldpointError {
  const what = "The application's rows broke a constraint when they were committed.";
  const next = "Write rows that keep the application's own constraints.";
  return new HoldpointError("broken_rule", what, { cause, next, details: { application: true } });
}

export function unwrapSqlAnswer<Result>(answered: SqlAnswer<Result>): Result {
  if (answered.kind === "thrown") throw answered.error;
  return answered.result;
}

function noteThrown<Answer>(thrown: Set<unknown>, attempt: () => Answer): Answer {
  try {
    return attempt();
  } catch (error) {
    thrown.add(error);
    throw error;
  }
}

/** A round that ends in `need` is repeated, after its writes are rolled back. */
function inRound<Result>(
  db: DatabaseSync,
  decide: (sql: SqlTransaction) => DecideResult<Result>,
): DecideResult<Result> {
  db.exec("SAVEPOINT hp_round");
  const { sql, refuseEnded, end } = guardedSql(db);
  try {
    const decision = decide(sql);
    refuseEnded();
    if (decision.kind === "need") db.exec("ROLLBACK TO hp_round");
    return decision;
  } finally {
    end();
    if (db.isTransaction) db.exec("RELEASE hp_round");
  }
}

type GuardedSql = {
  readonly sql: SqlTransaction;
  /** Throws if the transaction has ended. */
  refuseEnded(): void;
  end(): void;
};

function guardedSql(db: DatabaseSync): GuardedSql {
  let open = true;
  let ended: { readonly by: unknown } | undefined;
  const look = (by?: unknown) => {
    if (!db.isTransaction) ended ??= { by };
  };
  const refuseEnded = () => {
    look();
    if (ended !== undefined) throw transactionOver(ended.by);
  };
  const guarded = <Answer>(text: string, use: (statement: StatementSync) => Answer): Answer => {
    if (!open) throw new HoldpointError("closed", "The decision that this SQL belongs to has ended.");
    refuseEnded();
    db.setAuthorizer(authorize);
    try {
      const answer = use(db.prepare(text));
      refuseEnded();
      return answer;
    } catch (error) {
      look(error);
      throw error;
    } finally {
      db.setAuthorizer(null);
    }
  };
  return {
    sql: {
      run: (text, ...values) =>
        guarded(text, (statement) => ({ changes: Number(statement.run(...values).changes) })),
      all: (text, ...values) => guarded(text, (statement) => statement.all(...values)),
    },
    refuseEnded,
    end: () => {
      open = false;
    },
  };
}

/** A full or failing disk ends a transaction too, and has its own error code. */
function transactionOver(by: unknown): unknown {
  if (by !== undefined && !isConstraint(by)) return translateSqliteError(by);
  return new HoldpointError("broken_rule", "The application's SQL ended the transaction that it ran in.", {
    cause: by,
    details: { application: true },
    next: "Do without ROLLBACK in the SQL (OR ROLLBACK, ON CONFLICT ROLLBACK, RAISE): ABORT undoes one statement.",
  });
}

const FORBIDDEN = new Set<number>([
  constants.SQLITE_PRAGMA,
  constants.SQLITE_TRANSACTION,
  constants.SQLITE_SAVEPOINT,
  constants.SQLITE_ATTACH,
  constants.SQLITE_DETACH,
  // A temporary table hides ours of the same name, and a renamed one is authorised under its old name only.
  constants.SQLITE_ALTER_TABLE,
  constants.SQLITE_CREATE_TEMP_TABLE,
  constants.SQLITE_CREATE_TEMP_VIEW,
  constants.SQLITE_CREATE_TEMP_TRIGGER,
  constants.SQLITE_CREATE_TEMP_INDEX,
]);
/** For these actions the second name is a column. */
const ON_COLUMNS = new Set<number>([constants.SQLITE_READ, constants.SQLITE_UPDATE]);
const OUT_OF_REACH = /^(hp_|dbstat|sqlite_dbpage)/i;

function authorize(action: number, first: string | null, second: string | null): number {
  const names = ON_COLUMNS.has(action) ? [first] : [first, second];
  const reaches = names.some((name) => name !== null && OUT_OF_REACH.test(name));
  return FORBIDDEN.has(action) || reaches ? constants.SQLITE_DENY : constants.SQLITE_OK;
}
