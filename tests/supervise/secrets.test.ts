/** A secret that a policy puts into a call: its value is in nothing that a run shows, says or keeps. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { admin } from "../../src/admin.ts";
import type { Policy } from "../../src/effects/define-tool.ts";
import { type Holdpoint, NotApplied, type Notice } from "../../src/index.ts";
import { secret } from "../../src/runtime/secrets.ts";
import { pendingApproval, temporaryFolder } from "../fixtures/folder.ts";
import { FINAL, scripted } from "./refund.ts";

const NAME = "HOLDPOINT_TEST_RUN_SECRET";
const VALUE = 'sk-live-"quoted"/never-shown-77';
process.env[NAME] = VALUE;
const SPELLINGS = [
  VALUE,
  JSON.stringify(VALUE).slice(1, -1),
  encodeURIComponent(VALUE),
  Buffer.from(VALUE).toString("base64"),
];

type Args = { readonly n: number; readonly token?: unknown };

const policy = (({ args }: { args: Args }) =>
  args.token === undefined
    ? { verdict: "revise", set: { token: secret(`env:${NAME}`) }, reason: "it needs a token" }
    : { verdict: "escalate", reason: `with ${JSON.stringify(args)}` }) as unknown as Policy<never>;

/** Says the secret wherever it can. */
const loud = (token: unknown) => ({ status: `ok ${token}`, [String(token)]: [SPELLINGS.join(" ")] });

/** Looks at the question that waits, once it is another one, and agrees. */
async function agree(hp: Holdpoint, seen: unknown[], before: string): Promise<string> {
  let id = await pendingApproval(hp);
  while (id === before) id = await pendingApproval(hp);
  seen.push(await hp.approvals.get(id));
  await hp.approvals.approve(id, { by: "person:ann" });
  return id;
}

test("prompts, traces, previews, verdicts, notices and alerts of a run are without the secrets of its calls", async (context) => {
  const seen: unknown[] = [];
  const hp = temporaryFolder(context).open({ notify: (notice: Notice) => void seen.push(notice) });
  const input = z.object({ n: z.number(), token: z.string().optional() });
  const fail = ({ token }: Args): never => {
    throw new NotApplied(`refused ${token} ${SPELLINGS[3]}`);
  };
  const tools = [
    {
      name: "tell",
      policy,
      input,
      preview: ({ token }: Args) => loud(token),
      run: ({ token }: Args) => loud(token),
    },
    { name: "fail", policy, input, preview: fail, run: fail },
  ];
  const condition = ({ type, body, result }: { type: string; body: unknown; result: unknown }) => {
    if (type === "approval.requested") throw new Error(JSON.stringify(body));
    return (
      type === "effect.applied" && {
        holds: true,
        figures: { result: JSON.stringify([body, result]).slice(0, 999) },
      }
    );
  };
  const rules = [{ kind: "when", name: "curious", per: "tool", condition }];
  const monitor = await admin(hp).monitor({ name: "m", rules: rules as never });
  const call = (name: string) => ({ kind: "tool", name, args: { n: 1 } });
  const model = scripted(call("tell"), call("fail"), FINAL);
  const running = hp.supervise({ goal: "g", tools, model, onRefusal: "continue" });
  const first = await agree(hp, seen, "");
  await agree(hp, seen, first);
  const result = await running;
  assert.equal(result.stop_reason, "success");
  assert.deepEqual(
    result.trace.map(({ ok }) => ok),
    [true, false, true],
  );
  await monitor.caughtUp();
  seen.push(result, model.asked, await admin(hp).alerts.list({ status: "any" }));
  for await (const line of hp.journal.export()) seen.push(line);
  const text = seen.map((one) => (typeof one === "string" ? one : JSON.stringify(one))).join("\n");
  assert.ok(text.includes(`[secret env:${NAME}]`), "it was there to be taken out");
  for (const spelling of SPELLINGS) assert.ok(!text.includes(spelling), spelling);
});
