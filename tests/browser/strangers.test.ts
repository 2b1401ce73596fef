/** Other sites, and requests that are not of the desk's own pages: they change nothing. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, describe, test } from "node:test";
import { endOf, openDesk, sharedBrowser } from "./desk.ts";
import { askRefund, openShop } from "./shop.ts";

const browser = sharedBrowser(endOf({ after }));

/** Whatever a page of somebody else could send with the cookie: by script, in the forms that need no leave, and by a form. */
const attackOn = (vote: string, binding: string): string => `<!doctype html><title>other</title>
<form method="post" action="${vote}" enctype="text/plain" target="frame"><input name='{"decision":"approve","binding":"${binding}","x":"' value='"}'></form>
<iframe name="frame"></iframe>
<script>
const body = JSON.stringify({ decision: "approve", binding: "${binding}" });
const send = (headers, mode) => fetch("${vote}", { method: "POST", credentials: "include", mode, headers, body }).then((answer) => answer.status, () => "failed");
Promise.all([
  send({ "content-type": "text/plain" }, "no-cors"),
  send({ "content-type": "application/x-www-form-urlencoded" }, "no-cors"),
  send({ "content-type": "application/json" }, "cors"),
  send({ "content-type": "application/json", "x-csrf-token": "guessed" }, "cors"),
]).then((statuses) => { document.forms[0].submit(); setTimeout(() => { document.title = "tried " + statuses.join(); }, 300); });
</script>`;

async function siteWith(page: string) {
  const site = createServer((_, answer) => answer.writeHead(200, { "content-type": "text/html" }).end(page));
  site.listen(0, "127.0.0.1");
  await once(site, "listening");
  return { site, port: (site.address() as AddressInfo).port };
}

describe("somebody who is logged in", () => {
  test("decides nothing by a request with their cookie and without the page's token", async (t) => {
    const desk = await openDesk(t, { browser, define: openShop().define });
    const { approval } = await askRefund(await desk.agent("refunds"));
    const { binding } = await desk.hp.approvals.get(approval);
    const { page, open, faults } = await desk.visit("person:ann");
    faults.expect(/403/);
    await open("/approvals");
    const vote = `fetch("/api/approvals/${approval}/votes", { method: "POST", headers: { "content-type": "application/json" },
      body: JSON.stringify({ decision: "approve", binding: "${binding}" }) }).then(async (answer) => [answer.status, (await answer.json()).code])`;
    assert.deepEqual(await page.evaluate(vote), [403, "forbidden"]);
    assert.equal((await desk.hp.approvals.get(approval)).status, "pending");
  });

  for (const host of ["127.0.0.1", "localhost"])
    test(`and opens a page of another site (${host}) decides nothing by that, and their desk cannot be framed`, async (t) => {
      const desk = await openDesk(t, { browser, define: openShop().define });
      const { approval } = await askRefund(await desk.agent("refunds"));
      const { binding } = await desk.hp.approvals.get(approval);
      const { page, open, faults } = await desk.visit("person:ann");
      faults.expect(/./);
      await open("/approvals");
      const { site, port } = await siteWith(attackOn(`${desk.url}/api/approvals/${approval}/votes`, binding));
      await page.goto(`http://${host}:${port}/`);
      await page.waitForFunction(`document.title.startsWith("tried")`);
      site.close();
      assert.equal((await desk.hp.approvals.get(approval)).status, "pending");
      assert.equal((await desk.hp.approvals.get(approval)).votes.length, 0);
    });
});
