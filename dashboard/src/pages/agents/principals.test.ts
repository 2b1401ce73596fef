import assert from "node:assert/strict";
import { test } from "node:test";
import type { Key, Share } from "../../api/agents.ts";
import { principalsOf } from "./principals.ts";

const key = (id: string, principal: string, status: Key["status"], day = 1): Key => ({
  key_id: id,
  principal,
  name: id,
  status,
  roles: [],
  scopes: null,
  by: "person:ann",
  issued_at: `2026-01-0${day}T00:00:00.000Z`,
  expires_at: null,
  replaces: null,
  replaced_by: null,
  revoked: null,
});
const NOTHING = { approved: 0, modified: 0, rejected: 0, expired: 0, cancelled: 0 };
const share = (name: string): Share => ({
  name,
  actions: 3,
  asked: 1,
  ...NOTHING,
  applied: 2,
  not_applied: 0,
  in_doubt: 0,
  refused: 0,
});

test("keys stand with whom they are for, those that work first and newest first", () => {
  const keys = [
    key("old", "agent:mailer", "revoked", 3),
    key("first", "agent:mailer", "active", 1),
    key("second", "agent:mailer", "active", 2),
    key("ci", "service:ci", "active"),
  ];
  assert.deepEqual(
    principalsOf(keys, []).map(({ name, kind, keys: own }) => [name, kind, own.map(({ key_id }) => key_id)]),
    [
      ["mailer", "agent", ["second", "first", "old"]],
      ["ci", "service", ["ci"]],
    ],
  );
});

test("an agent that acts inside of a program is there without a key, under one name", () => {
  const found = principalsOf([key("k", "agent:mailer", "active")], [share("mailer"), share("agent:clerk")]);
  assert.deepEqual(
    found.map(({ principal, keys, lately }) => [principal, keys.length, lately?.actions]),
    [
      ["agent:clerk", 0, 3],
      ["agent:mailer", 1, 3],
    ],
  );
});
