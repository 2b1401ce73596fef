/** Where the journal of a run is kept: SQLite in the run's folder, or a PostgreSQL server of its own. */
import { startPostgres } from "../fixtures/postgres-server.ts";

export type StorePlace = {
  readonly kind: "sqlite" | "postgres";
  readonly database: string | null;
  /** Between two looks for what the dead have left. */
  readonly settleMs: number;
  crash(): Promise<void>;
  restart(): Promise<void>;
  close(): Promise<void>;
};

const noServer = (): Promise<void> => Promise.reject(new Error("SQLite has no server that could crash"));

export async function openPlace(kind: "sqlite" | "postgres"): Promise<StorePlace> {
  if (kind === "sqlite")
    return {
      kind,
      database: null,
      settleMs: 200,
      crash: noServer,
      restart: noServer,
      close: async () => undefined,
    };
  const server = await startPostgres();
  return {
    kind,
    database: server.url,
    settleMs: 500,
    crash: server.crash,
    restart: server.start,
    close: server.stop,
  };
}
