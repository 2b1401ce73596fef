/** Where the store of a drill is, how a backup of it is made under a running program, and how one is put back. */
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { startPostgres } from "../fixtures/postgres-server.ts";
import { backUp, putBack, WAYS } from "./backup.ts";

export type DrillPlace = {
  readonly ways: readonly string[];
  where(): { readonly folder: string } | { readonly database: string };
  backUp(name: string): Promise<void>;
  /** Nobody has it open. */
  putBack(way: string, name: string): Promise<void>;
  close(): Promise<void>;
};

export async function openPlace(store: "sqlite" | "postgres", root: string): Promise<DrillPlace> {
  return store === "sqlite" ? sqlitePlace(root) : postgresPlace(root);
}

function sqlitePlace(root: string): DrillPlace {
  let folder = join(root, "data");
  return {
    ways: WAYS,
    where: () => ({ folder }),
    async backUp(name) {
      backUp(folder, join(root, name));
    },
    async putBack(way, name) {
      const before = folder;
      folder = putBack(WAYS.find((known) => known === way) ?? "replace", folder, join(root, name));
      if (folder !== before) rmSync(before, { recursive: true, force: true });
    },
    close: async () => undefined,
  };
}

const copyAll = (from: string, to: string): void => {
  rmSync(to, { recursive: true, force: true });
  execFileSync("cp", ["-a", from, to]);
};

/** The server's data folder, copied while the server is down as after a crash. */
async function postgresPlace(root: string): Promise<DrillPlace> {
  const server = await startPostgres();
  const offline = async (work: () => void) => {
    await server.crash();
    work();
    await server.start();
  };
  return {
    ways: ["data folder"],
    where: () => ({ database: server.url }),
    backUp: (name) => offline(() => copyAll(server.dataFolder, join(root, name))),
    putBack: (_way, name) => offline(() => copyAll(join(root, name), server.dataFolder)),
    close: server.stop,
  };
}
