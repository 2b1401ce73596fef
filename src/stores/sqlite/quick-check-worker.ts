import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { pragma } from "./connect.ts";
import { isBusy } from "./sqlite-errors.ts";

function check(file: string): string {
  const db = new DatabaseSync(file, { readOnly: true, timeout: 5000 });
  try {
    return String(pragma(db, "PRAGMA quick_check(1)"));
  } catch (error) {
    return isBusy(error) ? "ok" : String(error);
  } finally {
    db.close();
  }
}

parentPort?.postMessage(check(String(workerData)));
