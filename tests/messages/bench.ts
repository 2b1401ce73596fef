/** Messages on the memory store, under a clock that the test moves; what is sent goes over real connections. */

import type { TestContext } from "node:test";
import { setTimeout } from "node:timers/promises";
import type { Admin } from "../../src/admin.ts";
import { cardLines } from "../../src/cli/shell/sections.ts";
import { ROSTER } from "../../src/kernel/stream.ts";
import type { DeliveryContext } from "../../src/notify/channel.ts";
import { runDelivery } from "../../src/notify/send.ts";
import type { DeliverySettings } from "../../src/notify/settings.ts";
import { endpointVerbs, messageVerbs } from "../../src/notify/verbs.ts";
import { decideMember, type Member } from "../../src/people/stream.ts";
import { runCommand } from "../../src/runtime/store-access.ts";
import { bindLibrary } from "../../src/runtime/verb.ts";
import { type Machine, machine, type Process, type ProcessOptions } from "../fixtures/runtime.ts";

export const ANN = { by: "person:ann" };
export const SETTINGS: DeliverySettings = {
  mail: null,
  publicUrl: "https://holdpoint.example",
  allowPrivate: true,
  timeoutMs: 5_000,
};

export type Desk = Process & {
  readonly endpoints: Admin["endpoints"];
  readonly messages: Admin["messages"];
  /** Delivers until the test is over, or until it is told to stop. */
  deliver(): { stop(): Promise<void> };
  /** Proposes something that people have to decide; answers the approval's id. */
  ask(args?: unknown, says?: string): Promise<string>;
  member(person: string, member: Partial<Member>): Promise<void>;
};

export type Bench = {
  readonly machine: Machine;
  open(options?: ProcessOptions, settings?: Partial<DeliverySettings>): Desk;
  /** Lets time pass, step by step, until it answers something. */
  until<Value>(look: () => Promise<Value | undefined | false> | Value | undefined | false): Promise<Value>;
};

/** One that crashed never comes back. */
async function soon(end: Promise<unknown>): Promise<void> {
  const timer = new AbortController();
  const late = setTimeout(2_000, undefined, timer).catch(() => undefined);
  await Promise.race([end.catch(() => undefined), late]);
  timer.abort();
}

const breath = (): Promise<void> => setTimeout(2);

function deskOf(context: Pick<TestContext, "after">, process: Process, settings: DeliverySettings): Desk {
  const { runtime } = process;
  const open = async () => runtime;
  const office: DeliveryContext = { runtime, settings, render: cardLines };
  const ask = process.gate({ name: "payments.refund", policy: "escalate", run: () => "done" });
  return {
    ...process,
    endpoints: bindLibrary(open, endpointVerbs),
    messages: bindLibrary(open, messageVerbs),
    deliver() {
      const over = new AbortController();
      const done = runDelivery(office, over.signal);
      const stop = async () => {
        over.abort();
        await done;
      };
      context.after(() => soon(stop()));
      return { stop };
    },
    async ask(given, says) {
      const args = given ?? { amount: 12 };
      const answer = await ask(args as never, {
        waitMs: 0,
        ...(says === undefined ? {} : { rationale: says }),
      });
      if (answer.status === "pending" && answer.approval !== null) return answer.approval;
      throw new Error("nobody was asked");
    },
    async member(person, { name = person, mail = null, roles = [], groups = [] }) {
      const command = { person, member: { name, mail, roles, groups }, by: "person:root" };
      await runCommand(runtime, { write: [ROSTER] }, (draft) => {
        draft.append(ROSTER, decideMember(draft.state(ROSTER), command));
        return { kind: "done" as const };
      });
    },
  };
}

export function bench(context: Pick<TestContext, "after">): Bench {
  const place = machine();
  return {
    machine: place,
    open(options = {}, settings = {}) {
      const all = { ...SETTINGS, ...settings };
      const environment = { ...options.environment, HOLDPOINT_ALLOW_PRIVATE: String(all.allowPrivate) };
      const process = place.process({ ...options, environment });
      context.after(() => soon(process.close()));
      return deskOf(context, process, all);
    },
    async until(look) {
      for (let round = 0; round < 5_000; round++) {
        const found = await look();
        if (found !== undefined && found !== false) return found;
        await breath();
        await place.clock.advance(200);
      }
      throw new Error("it did not come about");
    },
  };
}
