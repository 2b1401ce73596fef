/** Fills a database by several processes side by side. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { KINDS, type Load } from "./kinds.ts";

const PROGRAM = join(import.meta.dirname, "filling.ts");

const share = (load: Load, processes: number): Load =>
  Object.fromEntries(KINDS.map((kind) => [kind, Math.ceil((load[kind] ?? 0) / processes)]));

export async function fill(database: string, load: Load, processes = 2): Promise<void> {
  const flags = ["--disable-warning=ExperimentalWarning", PROGRAM, database];
  const ends = Array.from({ length: processes }, async (_, number) => {
    const args = [...flags, JSON.stringify(share(load, processes)), `filling-${number}`];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
    const [code] = (await once(child, "exit")) as [number | null];
    if (code !== 0) throw new Error(`a process that fills ended with ${code}`);
  });
  await Promise.all(ends);
}
