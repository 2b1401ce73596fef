import assert from "node:assert/strict";
import { test } from "node:test";
import { BLANK_ENDPOINT, endpointOfferOf } from "./endpoint-form.ts";

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
    name: "ops",
  });
});
