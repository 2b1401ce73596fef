/** What the store uses of `node:sqlite`, on SQLite over the disk of `sqlite-on-disk.ts`. */
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { sqlite, VFS } from "./sqlite-on-disk.ts";

const { capi, wasm } = sqlite;

/** Room for what SQLite answers by a pointer. */
const POINTER = 8;

type Row = Record<string, null | number | string | Uint8Array>;
type Handles = { readonly db: number; readonly statements: Set<number> };

export function openConnection(path: string): DatabaseSync {
  const db = opened(path);
  const handles: Handles = { db, statements: new Set() };
  let isOpen = true;
  const connection = {
    get isOpen() {
      return isOpen;
    },
    get isTransaction() {
      return capi.sqlite3_get_autocommit(db) === 0;
    },
    exec: (sql: string) => check(db, capi.sqlite3_exec(db, sql, 0, 0, 0)),
    prepare: (sql: string) => prepare(handles, sql),
    setAuthorizer(authorize: ((action: number, ...names: (string | null)[]) => number) | null) {
      const callback = (_: number, action: number, ...names: (string | 0)[]) =>
        authorize?.(action, ...names.map((name) => (name === 0 ? null : name))) ?? 0;
      check(db, capi.sqlite3_set_authorizer(db, (authorize === null ? 0 : callback) as typeof callback, 0));
    },
    close() {
      isOpen = false;
      for (const statement of handles.statements) capi.sqlite3_finalize(statement);
      check(db, capi.sqlite3_close_v2(db));
    },
  };
  return connection as unknown as DatabaseSync;
}

function opened(path: string): number {
  const place = Number(wasm.alloc(POINTER));
  try {
    const flags = capi.SQLITE_OPEN_READWRITE | capi.SQLITE_OPEN_CREATE;
    const code = capi.sqlite3_open_v2(path, place, flags, VFS);
    const db = Number(wasm.peekPtr(place));
    check(db, code);
    // The build for the web has pages of another size.
    check(db, capi.sqlite3_exec(db, "PRAGMA page_size=4096", 0, 0, 0));
    capi.sqlite3_extended_result_codes(db, 1);
    return db;
  } finally {
    wasm.dealloc(place);
  }
}

/** The fields by which the store recognises an error of SQLite. */
function check(db: number, code: number): void {
  if (code === 0) return;
  const error = new Error(capi.sqlite3_errmsg(db));
  throw Object.assign(error, { code: "ERR_SQLITE_ERROR", errcode: code, errstr: capi.sqlite3_errstr(code) });
}

function prepare({ db, statements }: Handles, sql: string): StatementSync {
  const place = Number(wasm.alloc(POINTER));
  check(db, capi.sqlite3_prepare_v3(db, sql, -1, 0, place, null));
  const pointer = Number(wasm.peekPtr(place));
  wasm.dealloc(place);
  statements.add(pointer);
  const columns = Array.from({ length: capi.sqlite3_column_count(pointer) }, (_, index) =>
    capi.sqlite3_column_name(pointer, index),
  );
  function* rows(values: readonly SQLInputValue[]): Generator<Row> {
    try {
      for (const [index, value] of values.entries()) check(db, bind(pointer, index + 1, value));
      for (;;) {
        const code = capi.sqlite3_step(pointer);
        if (code === capi.SQLITE_DONE) return;
        if (code !== capi.SQLITE_ROW) check(db, code);
        yield Object.fromEntries(columns.map((name, index) => [name, column(pointer, index)]));
      }
    } finally {
      capi.sqlite3_reset(pointer);
      capi.sqlite3_clear_bindings(pointer);
    }
  }
  const statement = {
    run(...values: readonly SQLInputValue[]) {
      for (const _ of rows(values));
      const lastInsertRowid = Number(capi.sqlite3_last_insert_rowid(db));
      return { changes: capi.sqlite3_changes(db), lastInsertRowid };
    },
    get(...values: readonly SQLInputValue[]) {
      for (const row of rows(values)) return row;
      return undefined;
    },
    all: (...values: readonly SQLInputValue[]) => [...rows(values)],
    iterate: (...values: readonly SQLInputValue[]) => rows(values),
  };
  return statement as unknown as StatementSync;
}

function bind(statement: number, index: number, value: SQLInputValue): number {
  // What is not bound is null.
  if (value === null) return 0;
  if (typeof value === "number") return capi.sqlite3_bind_double(statement, index, value);
  if (typeof value === "bigint") return capi.sqlite3_bind_int64(statement, index, value);
  const isText = typeof value === "string";
  const bytes = isText
    ? Buffer.from(value)
    : new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  const pointer = Number(wasm.alloc(Math.max(bytes.length, 1)));
  wasm.heap8u().set(bytes, pointer);
  const bindBytes = isText ? capi.sqlite3_bind_text : capi.sqlite3_bind_blob;
  return bindBytes(statement, index, pointer, bytes.length, capi.SQLITE_WASM_DEALLOC);
}

function column(statement: number, index: number): Row[string] {
  const type = capi.sqlite3_column_type(statement, index);
  if (type === capi.SQLITE_NULL) return null;
  if (type === capi.SQLITE_TEXT) return capi.sqlite3_column_text(statement, index);
  if (type !== capi.SQLITE_BLOB) return capi.sqlite3_column_double(statement, index);
  const start = Number(capi.sqlite3_column_blob(statement, index));
  return wasm.heap8u().slice(start, start + capi.sqlite3_column_bytes(statement, index));
}
