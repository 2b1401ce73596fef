// Every route is made from a contract, or is listed here with the reason why it is no verb.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Route, routeName } from "../../src/api/route.ts";
import { allRoutes, type RouteParts } from "../../src/api/routes.ts";
import { CONTRACTS } from "../../src/contracts.ts";
import type { VerbContract } from "../../src/kernel/contract.ts";
import { BY_HAND } from "./by-hand.ts";

const nothing = {} as unknown;
const ROUTES: readonly Route[] = allRoutes({
  condition: { version: "0", ready: async () => undefined },
  ...{ audience: nothing, hands: nothing, metrics: nothing },
} as unknown as RouteParts);

test("a route is a verb's, or is listed with the reason why not", () => {
  const verbs = CONTRACTS.flatMap(({ verbs: all }): readonly VerbContract[] => Object.values(all));
  const made = new Set<string>(verbs.map(({ http }) => http));
  const others = ROUTES.map(routeName).filter((name) => !made.has(name));
  assert.deepEqual(others.toSorted(), Object.values(BY_HAND).flat().toSorted());
});
