/** Commands by their rules alone: what the library adds around a verb would change the order of every simulated run. */
import { limitBudget } from "../../src/budgets/stream.ts";
import type { Money } from "../../src/kernel/money.ts";
import { budgetStream, switchStream } from "../../src/kernel/stream.ts";
import { turnSwitch } from "../../src/kill-switch/rules.ts";
import { switchScopeOf } from "../../src/kill-switch/stream.ts";
import { forgetSwitchChecks } from "../../src/kill-switch/switches.ts";
import { readOwnTenant } from "../../src/people/tenants/stream.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { runCommand } from "../../src/runtime/store-access.ts";

export async function setSwitch(runtime: Runtime, command: Parameters<typeof turnSwitch>[1]) {
  const needs = { write: [switchStream(switchScopeOf(command))], read: [readOwnTenant(runtime)] };
  try {
    return await runCommand(runtime, needs, (draft) => turnSwitch(draft, command));
  } finally {
    forgetSwitchChecks(runtime.store);
  }
}

export async function setBudget(runtime: Runtime, id: string, limit: Money): Promise<void> {
  const ref = budgetStream(id);
  await runCommand(runtime, { write: [ref] }, (draft) => {
    if (draft.state(ref).limit?.micros !== limit.micros)
      draft.append(ref, limitBudget(limit, "person:operator"));
  });
}
