/** Letters that are written from right to left turn nothing around: what is exact is seen in the order in which it is stored. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import type { Locator } from "playwright-core";
import { endOf, openDesk, sharedBrowser } from "./desk.ts";

const browser = sharedBrowser(endOf({ after }));

/** The characters of an element as they stand on the screen, from left to right, where they stand on one line. */
const seen = (element: Locator): Promise<string> =>
  element.evaluate((node) => {
    const page = node.ownerDocument;
    const walk = page.createTreeWalker(node, 4);
    const found: (readonly [character: string, x: number])[] = [];
    while (walk.nextNode() !== null) {
      const text = walk.currentNode.textContent ?? "";
      for (let at = 0; at < text.length; at += 1) {
        const range = page.createRange();
        range.setStart(walk.currentNode, at);
        range.setEnd(walk.currentNode, at + 1);
        found.push([text[at] ?? "", range.getBoundingClientRect().x]);
      }
    }
    return found
      .toSorted(([, one], [, other]) => one - other)
      .map(([character]) => character)
      .join("");
  });

const bidiOf = (element: Locator): Promise<string | undefined> =>
  element.evaluate((node) => node.ownerDocument.defaultView?.getComputedStyle(node).unicodeBidi);

const COMMAND = "mv \u05d0/1 \u05d1/2";
const PATH = "/tmp/\u05d0/1/\u05d1/2";
const NAME = "to \u05d0 1 2";
const SAYS = "\u05e9\u05dc\u05d5\u05dd";

describe("letters from right to left", () => {
  test("leave the order of commands, paths, names and exact JSON alone; sentences are drawn as they are read, and marked", async (t) => {
    const desk = await openDesk(t, { browser });
    const agent = await desk.agent("moves");
    const args = { command: COMMAND, file: PATH, [NAME]: "x" };
    const answer = await agent.actions.propose({ tool: "x.move", args, rationale: SAYS });
    const approval =
      answer.status === "pending" && answer.waiting_for === "approval"
        ? answer.approval_id
        : assert.fail(answer.status);
    const { page, open } = await desk.visit("person:ann");
    await open(`/approvals/${approval}`);
    for (const text of [COMMAND, PATH, NAME]) {
      const shown = page.locator("bdi", { hasText: text }).last();
      assert.equal(await seen(shown), text);
    }
    const says = page.locator("blockquote bdi");
    assert.match(await seen(says), new RegExp(`^written right to left *${[...SAYS].reverse().join("")}$`));
    await page.getByRole("button", { name: "Exact JSON" }).click();
    const exact = page.getByRole("region", { name: "exact JSON" }).getByText("mv").last();
    await exact.waitFor();
    assert.equal(await bidiOf(exact), "isolate-override");
    await page.getByRole("button", { name: "Modify" }).click();
    await page.getByText("Letter by letter").first().waitFor();
    await page.goto(`${desk.url}/approvals/${approval}/plain`);
    const line = page.locator(".lines span", { hasText: COMMAND }).first();
    assert.ok((await seen(line)).includes(COMMAND));
  });
});
