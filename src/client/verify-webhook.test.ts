import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { describe, test } from "node:test";
import { webhookHeaders } from "../notify/rules/endpoint.ts";
import { verifyWebhook } from "./verify-webhook.ts";

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const OTHER = `whsec_${Buffer.alloc(32, 8).toString("base64")}`;
const now = 1_800_000_000_000;
const seconds = now / 1_000;
const body = '{"type":"approval.requested","data":{"to":"Zoë","text":"\\u202e"}}';

/** By hand, over bytes that were put together another way. */
function byHand(secret: string, id: string, at: number, text: string): string {
  const hmac = createHmac("sha256", Buffer.from(secret.slice(6), "base64"));
  for (const part of [id, ".", String(at), ".", text]) hmac.update(Buffer.from(part, "utf8"));
  return `v1,${hmac.digest().toString("base64")}`;
}

const headers = (signature: string, id = "msg_1", at: string | number = seconds) => ({
  "webhook-id": id,
  "webhook-timestamp": String(at),
  "webhook-signature": signature,
});
const signed = headers(byHand(SECRET, "msg_1", seconds, body));
const check = (changed: Partial<Parameters<typeof verifyWebhook>[0]>) =>
  verifyWebhook({ secret: SECRET, headers: signed, body, now, ...changed });

describe("a receiver", () => {
  test("believes what was signed with its secret, and learns its id", async () => {
    assert.deepEqual(await check({}), { id: "msg_1" });
    assert.deepEqual(await check({ headers: new Headers(signed) }), { id: "msg_1" });
    assert.deepEqual(webhookHeaders([SECRET], { id: "msg_1", seconds, body }), signed);
  });

  test("believes one of several signatures, and has several secrets while one is changed", async () => {
    const both = `v1,AAAA v1a,zzzz ${byHand(OTHER, "msg_1", seconds, body)} ${signed["webhook-signature"]}`;
    assert.deepEqual(await check({ headers: headers(both) }), { id: "msg_1" });
    assert.deepEqual(await check({ secret: [OTHER, SECRET] }), { id: "msg_1" });
    const two = webhookHeaders([OTHER, SECRET], { id: "msg_1", seconds, body });
    for (const secret of [SECRET, OTHER])
      assert.deepEqual(await check({ headers: two, secret }), { id: "msg_1" });
  });

  test("believes nothing that was changed, is signed by another, or is not signed", async () => {
    const forged = [
      { body: `${body} ` },
      { body: body.replace("Zoë", "Zoe\u0308") },
      { secret: OTHER },
      { secret: [] },
      { secret: "" },
      { secret: "whsec_" },
      { secret: "whsec_%%%" },
      { headers: {} },
      { headers: headers("") },
      { headers: headers("v1,") },
      { headers: headers("v1,AAAA") },
      { headers: headers(signed["webhook-signature"].replace("v1,", "v2,")) },
      { headers: headers(signed["webhook-signature"].slice(3)) },
      { headers: headers(signed["webhook-signature"], "msg_2") },
      { headers: headers(signed["webhook-signature"], "") },
      { headers: headers(signed["webhook-signature"], "msg_1", seconds + 1) },
      { headers: headers(byHand(SECRET, "msg_1", Number.NaN, body), "msg_1", "NaN") },
      { headers: headers(byHand(SECRET, "msg_1", seconds, body), "msg_1", ` ${seconds}`) },
      { headers: { ...signed, "webhook-signature": [signed["webhook-signature"]] } },
    ];
    for (const [index, one] of forged.entries())
      assert.equal(await check(one), undefined, `forgery ${index}`);
  });

  test("believes nothing that is too old or from the future", async () => {
    for (const away of [-301, 301, 100_000]) {
      const at = seconds + away;
      const late = headers(byHand(SECRET, "msg_1", at, body), "msg_1", at);
      assert.equal(await check({ headers: late }), undefined, String(away));
      assert.deepEqual(await check({ headers: late, toleranceSeconds: 200_000 }), { id: "msg_1" });
    }
  });
});
