import type { DatabaseSync } from "node:sqlite";

export type Secrets = {
  find(tid: number, id: string): Uint8Array | undefined;
  put(tid: number, id: string, sealed: Uint8Array): void;
};

export function prepareSecrets(db: DatabaseSync): Secrets {
  const select = db.prepare("SELECT sealed FROM hp_secrets WHERE tid = ? AND id = ?");
  const upsert = db.prepare("INSERT OR REPLACE INTO hp_secrets (tid, id, sealed) VALUES (?, ?, ?)");
  return {
    find(tid, id) {
      const sealed = select.get(tid, id)?.["sealed"];
      return sealed instanceof Uint8Array ? sealed : undefined;
    },
    put(tid, id, sealed) {
      upsert.run(tid, id, sealed);
    },
  };
}
