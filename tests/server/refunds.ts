/** A server with refunds behind it: let through, asked about and decided, under a policy that is in force. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { z } from "zod";
import type { Holdpoint } from "../../src/index.ts";
import { type Bench, type BenchOptions, serverBench } from "../fixtures/server.ts";

export const POLICY = `policy: refunds
default: approve
risk:
  conditions:
    - { id: large, tool: refund, when: args.amount_usd > 500, weight: 40 }
rules:
  - { id: other, tool: pay, verdict: block, reason: not by this agent }
  - { id: asked, tool: refund, when: args.amount_usd > 100, verdict: escalate, reason: over 100 USD }
  - { id: tried, tool: refund, when: args.amount_usd > 50, verdict: block, shadow: true }
`;

type Refund = { readonly amount_usd: number };
type Decide = (hp: Holdpoint, approval: string) => Promise<unknown>;

export type Refunds = {
  readonly bench: Bench;
  readonly hp: Holdpoint;
  /** The action's id. */
  refund(amount: number, decide?: Decide): Promise<string>;
};

export const approve =
  (by: string): Decide =>
  (hp, approval) =>
    hp.approvals.approve(approval, { by });

export const reject: Decide = (hp, approval) =>
  hp.approvals.reject(approval, { by: "person:ann", reason: "far too much" });

export async function refundsBench(
  context: Pick<TestContext, "after">,
  options: BenchOptions = {},
): Promise<Refunds> {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-refunds-"));
  const policy = join(folder, "refunds.policy.yaml");
  writeFileSync(policy, POLICY);
  let hp: Holdpoint | undefined;
  let call: ((args: Refund, options: object) => Promise<unknown>) | undefined;
  const bench = await serverBench(context, {
    ...{ folder, policy, ...options },
    define(own) {
      hp = own;
      const input = z.object({ amount_usd: z.number() });
      call = own.gate({ name: "refund", effect: "idempotent", input, run: () => "refunded" }) as never;
    },
  });
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  assert.ok(hp !== undefined && call !== undefined);
  const [own, refund] = [hp, call];
  let number = 0;
  return {
    bench,
    hp: own,
    async refund(amount, decide) {
      const requestId = `refund-${++number}`;
      const asked = refund({ amount_usd: amount }, { requestId, waitMs: 0 });
      const answer = (await asked) as { readonly approval?: string };
      if (decide !== undefined) {
        await decide(own, answer.approval ?? assert.fail("nobody was asked"));
        await refund({ amount_usd: amount }, { requestId, waitMs: 0 });
      }
      return (await own.actions.get(requestId)).id;
    },
  };
}
