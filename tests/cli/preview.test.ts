// What the tool shows of a call, on the card and in the list.
import assert from "node:assert/strict";
import { test } from "node:test";
import { temporaryFolder } from "../fixtures/folder.ts";
import { runCli } from "./bench.ts";

test("the card and the list show the preview, strangers' characters made visible, and a failure as such", async (t) => {
  const folder = temporaryFolder(t);
  const hp = folder.open();
  const remove = hp.gate({
    name: "remove",
    preview: (args: { ending: string }) => {
      if (args.ending === "") throw new Error("everything\u202e would go");
      return { removes: ["a.txt", "b\u001b[31m.txt"] };
    },
    run: () => null,
  });
  for (const ending of [".txt", ""]) await remove({ ending }, { requestId: `r${ending}`, waitMs: 0 });
  const [good, failed, list, json] = await Promise.all([
    runCli(folder, ["show", "r.txt"]),
    runCli(folder, ["show", "r"]),
    runCli(folder, ["approvals"]),
    runCli(folder, ["show", "r.txt", "--json"]),
  ]);
  assert.match(good.out, /What the tool shows of it\n {2}│ removes:/);
  assert.match(good.out, /"a\.txt"/);
  assert.ok(!good.out.includes("\u001b[31m") && !list.out.includes("\u001b[31m"));
  assert.match(
    failed.out,
    /The tool's preview failed: nothing is known about what it would do\n {2}│ everything/,
  );
  assert.ok(!failed.out.includes("\u202e"));
  assert.match(list.out, /\{"ending":"\.txt"\} → \{"removes":\["a\.txt"/);
  assert.match(list.out, /\{"ending":""\} → preview failed: "everything/);
  const { approval } = JSON.parse(json.out) as { approval: { preview: { failed: boolean; digest: string } } };
  assert.equal(approval.preview.failed, false);
  assert.match(approval.preview.digest, /^[0-9a-f]{64}$/);
});

test("an edit that the tool shows something else of is told to its editor, who looks and approves", async (t) => {
  const folder = temporaryFolder(t);
  const hp = folder.open();
  const done: string[] = [];
  const remove = hp.gate({
    name: "remove",
    preview: ({ ending }: { ending: string }) => ({ removes: `all ${ending}` }),
    run: ({ ending }: { ending: string }) => void done.push(ending),
  });
  const call = remove({ ending: ".txt" }, { requestId: "r-1" });
  call.catch(() => undefined);
  await remove({ ending: ".txt" }, { requestId: "r-1", waitMs: 0 });
  const [asked] = (await hp.approvals.list()).items;
  const id = asked?.id ?? "";
  const edit = ["approve", id, "--edit", '{"ending": ".md"}'];
  for (const _ of [1, 2]) {
    const edited = await runCli(folder, edit);
    assert.equal(edited.code, 0, edited.err);
    assert.match(
      edited.out,
      /The edit is accepted, but its preview changed. People are asked about the new one, and so are you/,
    );
    assert.deepEqual(done, []);
  }
  assert.match((await runCli(folder, ["show", "r-1"])).out, /removes: "all \.md"/);
  assert.equal((await runCli(folder, ["approve", id])).code, 0);
  assert.equal((await call).status, "done");
  assert.deepEqual(done, [".md"]);
});
