/** Members of a group come and go, and people have others decide in their place. */
import { isHoldpointError } from "../../core/errors.ts";
import { decideMember } from "../../core/roster.ts";
import { ROSTER } from "../../core/stream.ts";
import { delegateApproval, takeBackApproval } from "../../engine/delegate.ts";
import { runCommand } from "../../engine/run-command.ts";
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

export async function moveMember(sim: Sim, life: Life): Promise<void> {
  const { random, scenario, scheduler } = sim;
  const person = random.pick(scenario.people);
  await place(sim, life, person, false);
  await scheduler.sleep(random.between(200, 8_000));
  const other = random.pick(aliveIn(sim, life.tenant));
  if (other !== undefined) await place(sim, other, person, true);
}

const REFUSALS = ["not_eligible", "wrong_state"] as const;

async function handOne(sim: Sim, life: Life, approval: string): Promise<void> {
  const { random, scenario } = sim;
  const [by, to] = [random.pick(scenario.people), random.pick([...scenario.people, "person:stranger"])];
  const said = await onLife(life, () =>
    random.chance(0.25)
      ? takeBackApproval(life.runtime, approval, { by, reason: "back" })
      : delegateApproval(life.runtime, approval, { by, to, reason: "away" }),
  );
  if (said.kind === "error" && !REFUSALS.some((code) => isHoldpointError(said.error, code)))
    meet(sim, life, "of a delegation", said.error);
}

/** A few at a time, and now and then whoever has it decides. */
export async function handOver(sim: Sim, life: Life): Promise<void> {
  const query = { view: "approvals", bucket: "pending", limit: 20 };
  const said = await onLife(life, () => life.runtime.store.query(life.tenant, query));
  const ids = said.kind === "value" ? said.value.map(({ stream }) => stream.id) : [];
  for (const id of ids.slice(0, 6)) {
    await handOne(sim, life, id);
    if (!sim.random.chance(0.7)) continue;
    sim.told.push({ tenant: life.tenant, approval: id, decideBy: null, round: 1 });
  }
}
