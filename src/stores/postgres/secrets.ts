import { type Ask, bytesAt } from "./ask.ts";
import { keyOf } from "./text-key.ts";

export type Secrets = {
  find(tid: number, id: string): Promise<Uint8Array | undefined>;
  put(tid: number, id: string, sealed: Uint8Array): Promise<void>;
};

export function prepareSecrets({ ask }: Ask, schema: string): Secrets {
  const select = {
    name: "hp_secret",
    text: `SELECT sealed FROM ${schema}.hp_secrets WHERE tid = $1 AND key = $2`,
  };
  const upsert = {
    name: "hp_put_secret",
    text: `INSERT INTO ${schema}.hp_secrets (tid, key, sealed) VALUES ($1, $2, $3)
      ON CONFLICT (tid, key) DO UPDATE SET sealed = excluded.sealed`,
  };
  return {
    async find(tid, id) {
      const [rows] = await ask(tid, { statement: select, values: [tid, keyOf(id)] });
      return rows?.[0] && bytesAt(rows[0], 0);
    },
    async put(tid, id, sealed) {
      await ask(tid, { statement: upsert, values: [tid, keyOf(id), Buffer.from(sealed)] });
    },
  };
}
