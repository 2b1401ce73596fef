/**
 * An epoch is held by a lease on the database's time: a row that has to be renewed before it lapses.
 *
 * - A hold is taken if there is none, if it has lapsed, or if it is the caller's own, so taking it is idempotent.
 * - A lapsed hold cannot be renewed, even if no process has taken it: other processes may have seen it free.
 * - A hold that was left is not released with the others: it lapses.
 * - A lapsed row means the same as no row, so a process that finds one deletes it.
 */

import { HoldpointError } from "../../kernel/errors.ts";
import type { EpochHold } from "../store.ts";
import { indexKey } from "./encode.ts";
import { DATABASE_NOW, type QueryRunner, textColumn } from "./query.ts";

export type EpochLeases = {
  hold(id: string): Promise<Required<EpochHold>>;
  isHeld(id: string): Promise<boolean>;
  releaseAll(): Promise<void>;
};

type LeaseParts = {
  readonly schema: string;
  readonly leaseMs: number;
  readonly random: (bytes: number) => Uint8Array;
  readonly clock?: { now(): number };
};

function leaseStatements(schema: string) {
  const table = `${schema}.hp_epochs`;
  const now = `coalesce($1::int8, ${DATABASE_NOW})`;
  const take = {
    name: "hp_hold_epoch",
    text: `INSERT INTO ${table} AS e (id, holder, until) VALUES ($2, $3, ${now} + $4::int8)
      ON CONFLICT (id) DO UPDATE SET holder = excluded.holder, until = excluded.until
      WHERE e.until <= ${now} OR e.holder = excluded.holder RETURNING 1`,
  };
  const renew = {
    name: "hp_renew_epoch",
    text: `UPDATE ${table} SET until = ${now} + $4::int8 WHERE id = $2 AND holder = $3 AND until > ${now} RETURNING 1`,
  };
  const release = { name: "hp_release_epoch", text: `DELETE FROM ${table} WHERE id = $1 AND holder = $2` };
  const held = { name: "hp_epoch_held", text: `SELECT until > ${now} FROM ${table} WHERE id = $2` };
  const clear = { name: "hp_clear_epoch", text: `DELETE FROM ${table} WHERE id = $2 AND until <= ${now}` };
  return { take, renew, release, held, clear };
}

export function prepareEpochLeases(
  { ask }: QueryRunner,
  { schema, leaseMs, random, clock }: LeaseParts,
): EpochLeases {
  const { take, renew, release, held, clear } = leaseStatements(schema);
  const holds = new Map<string, () => Promise<void>>();
  let isOver = false;
  const time = (): number | null => clock?.now() ?? null;
  return {
    async hold(id) {
      const holder = Buffer.from(random(16)).toString("hex");
      const key = indexKey(id);
      const values = () => [time(), key, holder, leaseMs];
      const [taken] = await ask("ids", { statement: take, values: values() });
      if (taken?.length !== 1) throw new HoldpointError("broken_rule", `The epoch ${id} is held already.`);
      const letGo = async () => {
        holds.delete(holder);
        if (isOver) return;
        await ask("ids", { statement: release, values: [key, holder] });
      };
      holds.set(holder, letGo);
      return {
        leaseMs,
        release: letGo,
        leave: () => void holds.delete(holder),
        async renew() {
          const [renewed] = await ask("ids", { statement: renew, values: values() });
          if (renewed?.length !== 1)
            throw new HoldpointError("epoch_ended", `The hold on epoch ${id} lapsed.`);
        },
      };
    },
    async isHeld(id) {
      const values = [time(), indexKey(id)];
      const [rows] = await ask("ids", { statement: held, values });
      const isHeld = textColumn(rows?.[0], 0) === "t";
      // A read-only server refuses the deletion, but its answer is valid.
      if (!isHeld && rows?.length === 1)
        await ask("ids", { statement: clear, values }).catch(() => undefined);
      return isHeld;
    },
    async releaseAll() {
      for (const letGo of [...holds.values()]) await letGo();
      isOver = true;
    },
  };
}
