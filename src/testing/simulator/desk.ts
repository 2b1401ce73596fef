/** Members of a group come and go, and people have others decide in their place. */
import type { LiveApproval } from "../../approvals/state.ts";
import { approvalVerbs } from "../../approvals/verbs.ts";
import { decideMember } from "../../core/roster.ts";
import { readState } from "../../engine/read-state.ts";
import { runCommand } from "../../engine/run-command.ts";
import { isHoldpointError } from "../../kernel/errors.ts";
import { approvalStream, ROSTER } from "../../kernel/stream.ts";
import { GROUP } from "./desk-spec.ts";
import { meet } from "./nodes.ts";
import { aliveIn, type Life, onLife, type Sim } from "./sim.ts";

async function place(sim: Sim, life: Life, person: string, isIn: boolean): Promise<void> {
  const member = { name: person, mail: null, roles: [], groups: isIn ? [GROUP] : [] };
  const command = { person, member, by: "person:operator" };
  const said = await onLife(life, () =>
    runCommand(life.runtime, { write: [ROSTER] }, (draft) =>
      draft.append(ROSTER, decideMember(draft.state(ROSTER), command)),
    ),
  );
  if (said.kind === "error") meet(sim, life, "of the roster", said.error);
}

/** Most of them, before anybody is asked. */
export async function manDesk(sim: Sim): Promise<void> {
  for (const tenant of sim.scenario.tenants)
    for (const person of sim.scenario.people) {
      const [life] = aliveIn(sim, tenant);
      if (life !== undefined && sim.random.chance(0.85)) await place(sim, life, person, true);
    }
}

/** In the end everybody is back. */
export async function restaff(sim: Sim, life: Life): Promise<void> {
  const { desk, people } = sim.scenario;
  for (const person of desk ? people : []) await place(sim, life, person, true);
}

async function waitingIn(life: Life): Promise<readonly (LiveApproval & { readonly id: string })[]> {
  const said = await onLife(life, async () => {
    const query = { view: "approvals", bucket: "pending", limit: 20 };
    const rows = await life.runtime.store.query(life.tenant, query);
    const states = rows.map(async ({ stream: { id } }) => ({
      ...(await readState(life.runtime, approvalStream(id))),
      id,
    }));
    return Promise.all(states);
  });
  return said.kind === "value" ? said.value.flatMap((one) => (one.status === "pending" ? [one] : [])) : [];
}

/** Rather somebody who has voted than anybody. */
export async function moveMember(sim: Sim, life: Life): Promise<void> {
  const { random, scenario, scheduler } = sim;
  const voters = (await waitingIn(life)).flatMap(({ votes }) => votes.map(({ by }) => by));
  const person = random.pick(voters.length === 0 ? scenario.people : voters);
  await place(sim, life, person, false);
  await scheduler.sleep(random.between(200, 8_000));
  const other = random.pick(aliveIn(sim, life.tenant));
  if (other !== undefined) await place(sim, other, person, true);
}

const REFUSALS = ["not_eligible", "wrong_state"] as const;

type Handed = { readonly by: string; readonly to: string };

async function delegate({ runtime }: Life, id: string, { by, to }: Handed): Promise<void> {
  await approvalVerbs.verbs.delegate.perform({ runtime, how: {} }, { id, by, to, reason: "away" });
}

async function takeBack({ runtime }: Life, id: string, by: string): Promise<void> {
  await approvalVerbs.verbs.takeBack.perform({ runtime, how: {} }, { id, by, reason: "back" });
}

/** Some have hardly given their seat away when they want it back. */
async function handOne(sim: Sim, life: Life, { id, delegations }: Waiting): Promise<void> {
  const { random, scenario } = sim;
  const given = random.chance(0.75) ? delegations.at(-1)?.by : undefined;
  const [by, to] = [random.pick(scenario.people), random.pick([...scenario.people, "person:stranger"])];
  const said = await onLife(life, () =>
    given === undefined ? delegate(life, id, { by, to }) : takeBack(life, id, given),
  );
  if (said.kind === "error" && !REFUSALS.some((code) => isHoldpointError(said.error, code)))
    meet(sim, life, "of a delegation", said.error);
  if (said.kind === "value" && given === undefined && random.chance(0.5)) await handBack(sim, life, id, by);
}

async function handBack(sim: Sim, life: Life, id: string, by: string): Promise<void> {
  const said = await onLife(life, () => takeBack(life, id, by));
  if (said.kind === "error" && !REFUSALS.some((code) => isHoldpointError(said.error, code)))
    meet(sim, life, "of a delegation", said.error);
}

type Waiting = Awaited<ReturnType<typeof waitingIn>>[number];

/** A few at a time, and now and then people hear of it again. */
export async function handOver(sim: Sim, life: Life): Promise<void> {
  for (const one of (await waitingIn(life)).slice(0, 6)) {
    await handOne(sim, life, one);
    if (sim.random.chance(0.6))
      sim.told.push({ tenant: life.tenant, approval: one.id, decideBy: null, round: 1 });
  }
}
