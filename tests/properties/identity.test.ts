/** Keys and people against a model that fits on a page: random issuing, rotating, revoking, suspending, removing and waiting. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { isHoldpointError } from "../../src/index.ts";
import { authenticate } from "../../src/people/authenticate.ts";
import type { Role } from "../../src/people/stream.ts";
import { machine, type Process } from "../fixtures/runtime.ts";
import { runs } from "./runs.ts";

const BY = "person:root";
const PEOPLE = ["person:ann", "person:bob"];
const SAID = { by: BY, reason: "test" };

/** A key as the model sees it: `of` is whose it is, `life` the number of times its person had been added by then. */
type Modelled = {
  id: string;
  text: string;
  of: string;
  life: number;
  until: number;
  revoked: boolean;
  replaced: boolean;
};
type Somebody = { there: boolean; lives: number; suspended: boolean; roles: readonly Role[] };
type Model = { now: number; readonly keys: Modelled[]; readonly people: Map<string, Somebody> };

const span = fc.constantFrom(1, 500, 1_000, 1_500, 4_000, Number.POSITIVE_INFINITY);
const role = fc.constantFrom<readonly Role[]>([], ["auditor"], ["supervisor"], ["admin"]);
const who = fc.constantFrom(...PEOPLE);
const step = fc.oneof(
  fc.record({
    do: fc.constant("issue" as const),
    of: fc.constantFrom("agent:mailer", ...PEOPLE),
    forMs: span,
  }),
  fc.record({
    do: fc.constant("rotate" as const),
    at: fc.nat(9),
    overlapMs: fc.constantFrom(0, 700, 2_000),
  }),
  fc.record({ do: fc.constant("revoke" as const), at: fc.nat(9) }),
  fc.record({ do: fc.constant("remove" as const), who }),
  fc.record({ do: fc.constant("add" as const), who, roles: role }),
  fc.record({ do: fc.constantFrom("suspend" as const, "reinstate" as const), who }),
  fc.record({ do: fc.constant("change" as const), who, roles: role }),
  fc.record({ do: fc.constant("wait" as const), ms: fc.constantFrom(1, 300, 700, 1_000, 2_000) }),
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

/** What the text of a key should be worth. */
function expected(model: Model, key: Modelled): string {
  const person = model.people.get(key.of);
  if (key.revoked) return "revoked";
  if (model.now >= key.until) return "expired";
  if (person === undefined) return "executor";
  if (!person.there || key.life !== person.lives) return "removed";
  return person.suspended ? "suspended" : person.roles.join();
}

const refusedWith = (codes: readonly string[]) => (error: unknown) => {
  assert.ok(isHoldpointError(error) && codes.includes(error.code), String(error));
};

async function issue(
  process: Process,
  model: Model,
  { of, forMs }: { of: string; forMs: number },
): Promise<void> {
  const person = model.people.get(of);
  const time = forMs === Number.POSITIVE_INFINITY ? {} : { forMs };
  const roles = person === undefined ? { roles: ["executor" as const] } : {};
  const made = process.keys.issue({ principal: of, name: "k", by: BY, ...roles, ...time });
  if (person !== undefined && (!person.there || person.suspended)) {
    await made.then(() => assert.fail("issued"), refusedWith(["not_eligible"]));
    return;
  }
  const { key, text } = await made;
  const until = model.now + forMs;
  model.keys.push({ id: key.id, text, of, life: person?.lives ?? 0, until, revoked: false, replaced: false });
}

async function rotate(
  process: Process,
  model: Model,
  { at, overlapMs }: { at: number; overlapMs: number },
): Promise<void> {
  const old = model.keys[at % model.keys.length];
  if (old === undefined) return;
  const person = model.people.get(old.of);
  const isOver = old.revoked || old.replaced || model.now >= old.until;
  const isBarred = person !== undefined && (!person.there || person.suspended);
  const made = process.keys.rotate(old.id, { by: BY, overlapMs, forMs: null });
  if (isOver || isBarred) {
    await made.then(() => assert.fail("rotated"), refusedWith(isOver ? ["wrong_state"] : ["not_eligible"]));
    return;
  }
  const { key, text } = await made;
  old.replaced = true;
  old.until = Math.min(old.until, model.now + overlapMs);
  const until = Number.POSITIVE_INFINITY;
  model.keys.push({
    ...old,
    id: key.id,
    text,
    life: person?.lives ?? 0,
    until,
    revoked: false,
    replaced: false,
  });
}

type Joining = { readonly do: "add" | "change"; readonly who: string; readonly roles: readonly Role[] };

async function join(
  process: Process,
  person: Somebody,
  { do: verb, who: name, roles }: Joining,
): Promise<void> {
  if (person.there !== (verb === "change")) return;
  if (verb === "change") await process.people.change(name, { roles, by: BY });
  else {
    await process.people.add({ person: name, roles, by: BY });
    Object.assign(person, { there: true, lives: person.lives + 1 });
  }
  person.roles = roles;
}

async function remove(process: Process, person: Somebody, name: string): Promise<void> {
  const done = process.people.remove(name, SAID);
  if (person.there) await done;
  else await done.then(() => assert.fail("removed"), refusedWith(["unknown_id"]));
  person.there = false;
}

async function take(process: Process, model: Model, step: Step): Promise<void> {
  if (step.do === "issue") return issue(process, model, step);
  if (step.do === "rotate") return rotate(process, model, step);
  if (step.do === "wait") return;
  if (step.do === "revoke") {
    const key = model.keys[step.at % model.keys.length];
    if (key === undefined) return;
    key.revoked = true;
    await process.keys.revoke(key.id, SAID);
    return;
  }
  const person = model.people.get(step.who) ?? assert.fail();
  if (step.do === "add" || step.do === "change") return join(process, person, step);
  if (step.do === "remove") return remove(process, person, step.who);
  person.suspended = step.do === "suspend";
  await process.people[step.do](step.who, SAID);
}

async function agrees(process: Process, model: Model): Promise<void> {
  for (const key of model.keys) {
    const answer = await authenticate(process.runtime, key.text);
    const told = "refused" in answer ? answer.refused : answer.roles.join();
    assert.equal(told, expected(model, key), key.id);
    if (!("refused" in answer)) assert.equal(answer.principal, key.of);
  }
}

async function begin(process: Process): Promise<Model["people"]> {
  for (const person of [BY, ...PEOPLE]) await process.people.add({ person, roles: ["admin"], by: BY });
  const one = { there: true, lives: 1, suspended: false };
  return new Map(PEOPLE.map((name) => [name, { ...one, roles: ["admin"] }]));
}

test("authenticate agrees with the model after every step, and another process within a second", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 30, size: "max" }), async (steps) => {
      const { clock, process } = machine();
      const [one, other] = [process(), process()];
      const model: Model = { now: clock.now(), keys: [], people: await begin(one) };
      for (const each of steps) {
        for (const { text } of model.keys) await authenticate(other.runtime, text);
        await clock.advance(1);
        model.now = clock.now();
        await take(one, model, each);
        if (each.do === "wait") await clock.advance(each.ms);
        model.now = clock.now();
        await agrees(one, model);
      }
      await clock.advance(999);
      model.now = clock.now();
      await agrees(other, model);
    }),
    runs(200),
  );
});
