import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { pragma } from "./connect.ts";
import { isBusy } from "./errors.ts";

const ATTEMPTS = 10;

/** Retries while another process holds the file. Throws if it cannot be checked: it is never reported as sound. */
function check(file: string): string {
  for (let attempt = 1; ; attempt++) {
    const db = new DatabaseSync(file, { readOnly: true, timeout: 5000 });
    try {
      return String(pragma(db, "PRAGMA quick_check(1)"));
    } catch (error) {
      if (!isBusy(error) || attempt === ATTEMPTS) throw error;
    } finally {
      db.close();
    }
  }
}

parentPort?.postMessage(check(String(workerData)));
