/** Implementation of the verbs of the kill switch. Any person may stop; only one in good standing may release. */
import { HoldpointError } from "../kernel/errors.ts";
import type { Via } from "../kernel/principal.ts";
import { switchStream, workflowStream } from "../kernel/stream.ts";
import { readOwnTenant } from "../people/tenants/stream.ts";
import { rowPage } from "../runtime/lists.ts";
import type { Runtime, RuntimeOpener } from "../runtime/runtime.ts";
import { readState } from "../runtime/store-access.ts";
import { bindLibrary, capability, decideVerb, readVerb } from "../runtime/verb.ts";
import type { ViewRow } from "../stores/store.ts";
import { type KillSwitch, type KillSwitchState, killSwitch, type Pause, withNames } from "./contract.ts";
import { noWorkflow, turnSwitch } from "./rules.ts";
import { parseSwitchScope, type Stoppable, switchScopeOf } from "./stream.ts";
import { forgetSwitchChecks } from "./switches.ts";

/** For users: `stopped`, the word of the journal, is called `paused`. */
async function readSwitch(runtime: Runtime, target: Stoppable): Promise<KillSwitchState> {
  const { workflow } = target;
  if (workflow !== undefined && (await readState(runtime, workflowStream(workflow))).status === "none")
    throw noWorkflow(workflow);
  const { stopped: paused, ...facts } = await readState(runtime, switchStream(switchScopeOf(target)));
  return structuredClone({ paused, ...facts }) as KillSwitchState;
}

function pauseIn({ stream, at, data }: ViewRow): Pause {
  const target = parseSwitchScope(stream.id);
  return {
    paused: true,
    agent: target.what === "agent" ? target.agent : null,
    workflow: target.what === "workflow" ? target.workflow : null,
    by: String(data["by"]),
    reason: String(data["reason"]),
    at,
  };
}

const isScope = (id: unknown): boolean => typeof id === "string" && id !== "";
const LIST = { view: "switches", kind: "switch", isName: isScope, order: "newest" } as const;

type Turn = Stoppable & { readonly by: string; readonly reason: string };

const turnVerb = (stop: boolean) =>
  decideVerb(
    (draft, input: Turn, { via, tenant }: Via & { readonly tenant: string }) => {
      const own = readOwnTenant({ tenant });
      const more = draft.need({ read: [own] });
      if (more !== undefined) return more;
      if (!stop && draft.state(own).status === "closed")
        throw new HoldpointError(
          "tenant_closed",
          `The tenant ${tenant} was closed: it is not released again.`,
        );
      return turnSwitch(draft, { ...input, stop, ...(via === undefined ? {} : { via }) });
    },
    (_runtime, { changed }) => changed,
    (runtime, input) => ({
      input,
      needs: { write: [switchStream(switchScopeOf(input))], read: [readOwnTenant(runtime)] },
      after: () => forgetSwitchChecks(runtime.store),
    }),
  );

export const killSwitchVerbs = capability(killSwitch, {
  paused: readVerb((runtime, target) => readSwitch(runtime, target)),
  pauses: readVerb(async (runtime, { limit = 100, after }) => {
    const { rows, next } = await rowPage(runtime, { ...LIST, limit, after });
    return { items: rows.map(pauseIn), next };
  }),
  pause: turnVerb(true),
  resume: turnVerb(false),
});

export const bindKillSwitch = (open: RuntimeOpener): KillSwitch =>
  withNames(bindLibrary(open, killSwitchVerbs));
