/** Entry point `holdpoint/postgres`: a PostgreSQL store with custom settings, for `holdpoint({ store })`. */

import { pooledRandom } from "./runtime/runtime.ts";
import { openPostgresStore } from "./stores/postgres/open.ts";
import { checkPostgresSettings, type PostgresSettings } from "./stores/postgres/options.ts";
import type { Store } from "./stores/store.ts";
import { FOLDS, PROJECTIONS } from "./streams.ts";

export type { PostgresSettings } from "./stores/postgres/options.ts";

/**
 * Opens the store of a PostgreSQL database.
 *
 * ```ts no-run
 * import { holdpoint } from "holdpoint";
 * import { openPostgres } from "holdpoint/postgres";
 *
 * const store = await openPostgres({ database: "postgres://app@db.internal/app", schema: "holdpoint", connections: 20 });
 * const hp = holdpoint({ store });
 * ```
 */
export function openPostgres(settings: PostgresSettings): Promise<Store> {
  checkPostgresSettings(settings);
  const projections = PROJECTIONS;
  return openPostgresStore({ ...settings, folds: FOLDS, projections, random: pooledRandom() });
}
