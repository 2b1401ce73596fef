/** Who is there: people with their roles, agents with their keys. */
import { admin, type Role } from "../../../src/admin.ts";
import type { Holdpoint } from "../../../src/index.ts";

export const ANN = "person:ann";
export const BEN = "person:ben";
export const CHLOE = "person:chloe";

type Listed = readonly [person: string, name: string, roles: readonly Role[], groups: readonly string[]];

const PEOPLE: readonly Listed[] = [
  [ANN, "Ann Okafor", ["admin", "supervisor", "verifier"], ["finance"]],
  [BEN, "Ben Lindqvist", ["supervisor"], ["finance"]],
  [CHLOE, "Chloé Martin", ["supervisor"], ["legal"]],
  ["person:dmitri", "Dmitri Vance", ["verifier"], []],
  ["person:emi", "Emi Tanaka", ["auditor"], ["legal"]],
];

export const AGENTS = {
  refunds: "agent:refund-desk",
  parcels: "agent:parcel-desk",
  release: "agent:release-bot",
  schema: "agent:schema-keeper",
  letters: "agent:letter-writer",
  tidy: "agent:tidy-up",
  books: "agent:bookkeeper",
} as const;

const WEEK_MS = 7 * 86_400_000;

/** At the beginning of the history. */
export async function addPeople(hp: Holdpoint): Promise<void> {
  const by = ANN;
  for (const [person, name, roles, groups] of PEOPLE) {
    const mail = `${person.slice("person:".length)}@example.com`;
    await admin(hp).people.add({ person, name, mail, roles, groups, by });
  }
  for (const principal of Object.values(AGENTS))
    await admin(hp).keys.issue({ principal, name: "first key", roles: ["executor"], by });
}

/** Later: one key runs out soon, one was taken away, and somebody is suspended. */
export async function changePeople(hp: Holdpoint): Promise<void> {
  const by = ANN;
  const offer = { roles: ["executor"] as const, by };
  await admin(hp).keys.issue({ principal: AGENTS.refunds, name: "eu region", ...offer, forMs: WEEK_MS });
  const { key } = await admin(hp).keys.issue({
    principal: AGENTS.tidy,
    name: "laptop, for a test",
    ...offer,
  });
  await admin(hp).keys.revoke(key.id, { by, reason: "the test is over" });
  await admin(hp).keys.issue({
    principal: "service:billing",
    name: "nightly export",
    roles: ["auditor"],
    by,
  });
  await admin(hp).people.suspend("person:dmitri", { by, reason: "on leave until March" });
}
