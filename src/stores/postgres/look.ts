/** Members that only read: one moment of the database, no locks, no transaction left open while they decide. */
import { isNothing } from "./append.ts";
import { decideAll, tellAll } from "./decide-all.ts";
import { wantedBy } from "./ground.ts";
import type { Journal } from "./journal.ts";
import { type Member, onlyReads } from "./member.ts";
import { send } from "./pipeline.ts";

/** Answers who turned out to write, or to need more. */
export async function runLook(
  journal: Journal,
  tenant: string,
  members: readonly Member[],
): Promise<readonly Member[]> {
  const { grounds, heads, enter, folds, append, random, clock } = journal;
  const tid = (await journal.tenants.find(tenant)) ?? 0;
  const wanted = wantedBy(members.map(({ needs }) => needs));
  const { standing, seen } = await journal.connections.use(async (client) => {
    const standing = grounds.standing(wanted, await send(client, grounds.looked(tid, wanted)));
    const run = async (steps: Parameters<typeof send>[1]) =>
      (await send(client, [enter(tid), ...steps])).slice(1);
    return { standing, seen: await heads.resolve(tid, standing.found, run) };
  });
  await journal.checkLayout(standing.layout);
  const now = () => clock?.now() ?? standing.clock;
  const writers: Member[] = [];
  for (const member of members) {
    const deciding = { tenant, folds, append, wanted, standing, seen, now, random };
    const { writing, done, refused, again } = decideAll(deciding, [member]);
    writers.push(...again);
    if (isNothing(writing)) tellAll({ done, refused });
    else writers.push(asWriter(member));
  }
  return writers;
}

/** What declared nothing to write and writes all the same (artifacts) is decided again under locks. */
function asWriter(member: Member): Member {
  if (onlyReads(member)) member.writes = true;
  return member;
}
