import assert from "node:assert/strict";
import { test } from "node:test";
import { BLANK_ENDPOINT, endpointChangeOf, endpointFormOf, endpointOfferOf } from "./endpoint-form.ts";

test("an endpoint that tells nobody is not added", () => {
  assert.equal(endpointOfferOf(BLANK_ENDPOINT), null);
  assert.equal(endpointOfferOf({ ...BLANK_ENDPOINT, kind: "mail", to: " , " }), null);
  assert.equal(endpointOfferOf({ ...BLANK_ENDPOINT, kind: "mail", url: "https://a.example" }), null);
});

test("receivers and events are read from a list, and what is left out is not sent", () => {
  assert.deepEqual(
    endpointOfferOf({
      ...BLANK_ENDPOINT,
      kind: "mail",
      to: "approvers, role:supervisor\nann@example.com",
      events: "approval.*",
    }),
    { to: ["approvers", "role:supervisor", "ann@example.com"], events: ["approval.*"] },
  );
  assert.deepEqual(endpointOfferOf({ ...BLANK_ENDPOINT, url: " https://a.example/hook ", name: "ops" }), {
    url: "https://a.example/hook",
    kind: "webhook",
    name: "ops",
  });
});

test("of an endpoint only what was changed is sent, and nothing where nothing was", () => {
  const before = endpointFormOf({
    ...{ endpoint_id: "end_1", status: "on", name: "ops", owner: "person:ann", missed: 0, off: null },
    ...{ target: { kind: "webhook", url: "https://a.example" }, events: ["approval.*"], added_at: "" },
  });
  assert.equal(endpointChangeOf({ ...before, name: " ops ", events: "approval.*\n" }, before), null);
  assert.deepEqual(endpointChangeOf({ ...before, url: "https://b.example", events: "" }, before), {
    url: "https://b.example",
  });
  assert.deepEqual(endpointChangeOf({ ...before, events: "alert.*, approval.*" }, before), {
    events: ["alert.*", "approval.*"],
  });
});
