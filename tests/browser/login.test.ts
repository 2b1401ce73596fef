/** Getting in, and what nobody gets in by. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { endOf, openDesk, sharedBrowser } from "./desk.ts";
import { isLive } from "./visit.ts";

const browser = sharedBrowser(endOf({ after }));

describe("a login link", () => {
  test("works once, and leads to where one wanted to go", async (t) => {
    const desk = await openDesk(t, { browser });
    const link = await desk.link("person:ann");
    const ann = await desk.stranger();
    ann.faults.expect(/401/);
    await ann.page.goto(`${desk.url}/workflows?status=failed`);
    await ann.page.waitForURL(/\/login\?to=/);
    await ann.page.getByLabel("Your link").fill(`${desk.url}/login#${link}`);
    await ann.page.getByRole("button", { name: "Log in" }).click();
    await ann.page.waitForURL("**/workflows?status=failed");
    await isLive(ann.page);

    const second = await desk.stranger();
    second.faults.expect(/401/);
    await second.page.goto(`${desk.url}/login#${link}`);
    await second.page.getByRole("button", { name: "Log in" }).click();
    await second.page.getByText("The link is not valid, or no longer.").waitFor();
    assert.deepEqual(await second.context.cookies(), []);
  });
});
