// What is wrong is said, and nothing is written.
import assert from "node:assert/strict";
import { test } from "node:test";
import { machine } from "../fixtures/runtime.ts";

const BY = "person:root";
const KEY = { principal: "agent:mailer", name: "web-1", roles: ["executor"], by: BY };

test("people and keys that cannot be are refused before anything is looked at", async () => {
  const one = machine().process();
  const { people, keys } = one;
  const wrong: readonly (readonly [string, () => Promise<unknown>])[] = [
    ["an agent in the list of people", () => people.add({ person: "agent:x", by: BY })],
    ["a name that hides something", () => people.add({ person: "person:an\u200bn", by: BY })],
    ["a name that turns around", () => people.add({ person: "person:ann", name: "a\u202eb", by: BY })],
    ["a name of two lines", () => people.add({ person: "person:ann", name: "a\nb", by: BY })],
    ["an unknown role", () => people.add({ person: "person:ann", roles: ["boss"], by: BY } as never)],
    ["roles that are no list", () => people.add({ person: "person:ann", roles: "admin", by: BY } as never)],
    ["a group with a space", () => people.add({ person: "person:ann", groups: ["a b"], by: BY })],
    [
      "a mail address with a line break",
      () => people.add({ person: "person:ann", mail: "a@b.c\r\nBcc: x@y.z", by: BY }),
    ],
    ["a field that is none", () => people.add({ person: "person:ann", role: "admin", by: BY } as never)],
    ["somebody added by an agent", () => people.add({ person: "person:ann", by: "agent:x" })],
    ["nobody's change", () => people.change("ann", { by: BY })],
    ["a removal without a reason", () => people.remove("person:ann", { by: BY, reason: " " })],
    ["a link of two days", () => people.loginLink("person:ann", { by: BY, forMs: 2 * 86_400_000 })],
    ["a key of nobody", () => keys.issue({ ...KEY, principal: "mailer" } as never)],
    ["a key without a name", () => keys.issue({ ...KEY, name: "" } as never)],
    ["a key with no scope at all", () => keys.issue({ ...KEY, scopes: [] } as never)],
    ["a key with a scope that is none", () => keys.issue({ ...KEY, scopes: ["approvals:*"] } as never)],
    ["a key for half a millisecond", () => keys.issue({ ...KEY, forMs: 0.5 } as never)],
    ["a key for ever and a day", () => keys.issue({ ...KEY, forMs: 1e15 } as never)],
    ["an overlap of a year", () => keys.rotate("key_x", { by: BY, overlapMs: 365 * 86_400_000 })],
    ["a page of nothing", () => keys.list({ limit: 0 })],
    ["a cursor of another list", () => keys.list({ after: "1-grt_00000000000000000000000000" })],
  ];
  for (const [what, call] of wrong) await assert.rejects(call(), { code: "invalid_input" }, what);
  await assert.rejects(keys.get("key_x"), { code: "unknown_id" });
  await assert.rejects(keys.revoke("key_x", { by: BY, reason: "x" }), { code: "unknown_id" });
  await assert.rejects(keys.rotate("key_x", { by: BY }), { code: "unknown_id" });
  await assert.rejects(people.get("person:ann"), { code: "unknown_id" });
  assert.equal(await one.store.position(), 0);
});

test("keys are listed newest first, page by page, also of one principal", async () => {
  const { clock, process } = machine();
  const one = process();
  const ids: string[] = [];
  for (let at = 0; at < 7; at++) {
    const principal = at % 2 === 0 ? "agent:even" : "service:odd";
    ids.unshift((await one.keys.issue({ principal, name: `n${at}`, roles: ["poster"], by: BY })).key.id);
    await clock.advance(1);
  }
  const seen: string[] = [];
  for (let after: string | null | undefined; after !== null; ) {
    const page = await one.keys.list({ limit: 3, ...(after === undefined ? {} : { after }) });
    seen.push(...page.items.map(({ id }) => id));
    after = page.next;
  }
  assert.deepEqual(seen, ids);
  const { items, next } = await one.keys.list({ principal: "agent:even", limit: 4 });
  assert.equal(next, null);
  assert.deepEqual(
    items.map(({ name }) => name),
    ["n6", "n4", "n2", "n0"],
  );
});
