/** Carries out what was planned, one blow after the other at each node and side by side between them, and undoes it all. */
import { setTimeout as sleep } from "node:timers/promises";
import type { PostgresServer } from "../../fixtures/postgres-server.ts";
import type { Member } from "./crew.ts";
import type { Blow, Nemesis } from "./plan.ts";

export type Field = {
  readonly members: ReadonlyMap<string, Member>;
  readonly server: Pick<PostgresServer, "crash" | "start">;
  log(text: string): void;
};

async function strikeNode(member: Member, blow: Exclude<Blow, { kind: "crash" }>): Promise<void> {
  switch (blow.kind) {
    case "kill":
      return member.kill(blow.forMs);
    case "freeze":
      member.signal("SIGSTOP");
      await sleep(blow.forMs);
      return member.signal("SIGCONT");
    case "cut":
      member.proxy.cut(true);
      await sleep(blow.forMs);
      return member.proxy.cut(false);
    case "stall":
    case "drop":
      member.proxy[blow.kind](blow.way);
      await sleep(blow.forMs);
      return member.proxy[blow.kind](null);
    case "clock":
      return member.setClock(blow.offsetMs);
  }
}

async function crash({ server }: Field, forMs: number): Promise<void> {
  await server.crash();
  await sleep(forMs);
  await server.start();
}

/** Resolves when all of it is over, and every node and line is as it was; clocks stay off. */
export async function strikeAll(field: Field, plan: readonly Blow[]): Promise<ReadonlyMap<Nemesis, number>> {
  const begun = performance.now();
  const struck = new Map<Nemesis, number>();
  const lanes = new Map<string, Promise<void>>();
  for (const blow of plan) {
    await sleep(Math.max(0, blow.at - (performance.now() - begun)));
    const lane = blow.kind === "crash" ? "database" : blow.node;
    const member = field.members.get(lane);
    const act = async () => {
      field.log(`${((performance.now() - begun) / 1_000).toFixed(1)} s: ${JSON.stringify(blow)}`);
      if (blow.kind === "crash") await crash(field, blow.forMs);
      else if (member !== undefined) await strikeNode(member, blow);
      struck.set(blow.kind, (struck.get(blow.kind) ?? 0) + 1);
    };
    lanes.set(lane, (lanes.get(lane) ?? Promise.resolve()).then(act));
  }
  await Promise.all(lanes.values());
  return struck;
}
