/** The refund case with its own tools and policy file, a model that says what it is told to, and a person. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { goalOf } from "../../examples/demos/refund-script.ts";
import { refundTools } from "../../examples/demos/refund-tools.ts";

import { type Approval, type Holdpoint, holdpoint, type SuperviseResult } from "../../src/index.ts";
import type { Model, ModelFailure } from "../../src/supervise/models/model.ts";
import type { SuperviseOptions } from "../../src/supervise/options.ts";

import { memoryStore } from "../../src/testing/testing.ts";
import { ROOT } from "../e2e/program.ts";

export type Line = object | string;
export type Change = readonly [from: string, to: string];

export const CONTEXT = { kind: "tool", name: "get_refund_context", args: { user_id: 42 } };
export const refund = (amount_usd: number, more: object = { reason: "annual plan" }) => ({
  kind: "tool",
  name: "issue_refund",
  args: { user_id: 42, amount_usd, ...more },
});
export const email = (amount_usd: number, message = "paid") => ({
  kind: "tool",
  name: "send_refund_email",
  args: { user_id: 42, amount_usd, message },
});
export const FINAL = { kind: "final", answer: "It is done." };

const POLICY = readFileSync(join(ROOT, "examples/refund/policy.yaml"), "utf8");

/** The policy file with some of its text changed, everywhere where it stands. */
function changed(changes: readonly Change[]): string {
  return changes.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`the policy does not say ${from}`);
    return text.replaceAll(from, to);
  }, POLICY);
}

/** One line after the other; after the last one it is an error to be asked. */
export function saying(lines: readonly Line[]): Model & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    id: "script/lines",
    asked,
    async propose({ prompt }) {
      asked.push(prompt);
      const line = lines[asked.length - 1] ?? { failure: "refused", message: "the script is over" };
      if (typeof line === "object" && "failure" in line) return line as ModelFailure;
      return { text: typeof line === "string" ? line : JSON.stringify(line) };
    },
  };
}

type Setting = {
  readonly lines?: readonly Line[];
  readonly policy?: readonly Change[];
  readonly person?: (hp: Holdpoint, approval: Approval) => Promise<unknown>;
  readonly options?: Partial<SuperviseOptions>;
  /** More of what the run may call. */
  readonly more?: (hp: Holdpoint) => SuperviseOptions["tools"];
};

export type Played = {
  readonly result: SuperviseResult;
  /** What happened in the world, in order. */
  readonly outside: readonly object[];
  readonly approvals: readonly Approval[];
};

/** Whoever is asked is played by `person`; what goes wrong there ends the test. */
async function supervised(hp: Holdpoint, outside: object[], setting: Setting): Promise<SuperviseResult> {
  const { lines = [], person, options = {}, more } = setting;
  const tools = [
    ...refundTools(hp, { once: (_key, entry) => void outside.push(entry) }),
    ...(more?.(hp) ?? []),
  ];
  return new Promise((done, fail) => {
    const meet = async (id: string) => person?.(hp, await hp.approvals.get(id));
    const notify: SuperviseOptions["notify"] = (notice) => {
      if (notice.kind === "waiting") meet(notice.approval).catch(fail);
    };
    const given = { goal: goalOf(1200), tools, model: saying(lines), notify, ...options };
    hp.supervise(given as SuperviseOptions).then(done, fail);
  });
}

export async function play(setting: Setting): Promise<Played> {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-refund-"));
  const policy = join(folder, "policy.yaml");
  writeFileSync(policy, changed(setting.policy ?? []));
  const keyFile = join(folder, "key.json");
  const outside: object[] = [];
  const hp = holdpoint({ store: memoryStore(), keyFile, policy, agent: "refund-agent", notify: () => {} });
  try {
    const result = await supervised(hp, outside, setting);
    const { items } = await hp.approvals.list({ status: "any" });
    return { result, outside, approvals: await Promise.all(items.map(({ id }) => hp.approvals.get(id))) };
  } finally {
    await hp.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

export const ANN = { by: "person:ann" };

export const approves =
  (edit?: object, note?: string) =>
  (hp: Holdpoint, { id }: Approval): Promise<unknown> =>
    hp.approvals.approve(id, {
      ...ANN,
      ...(edit === undefined ? {} : { edit }),
      ...(note === undefined ? {} : { note }),
    });

export const rejects = (hp: Holdpoint, { id }: Approval): Promise<unknown> =>
  hp.approvals.reject(id, { ...ANN, reason: "not this time" });

/** Until the edit that waits at an approval was reviewed. */
export async function reviewed(hp: Holdpoint, id: string): Promise<Approval> {
  const over = new AbortController();
  for await (const _ of hp.approvals.follow(over.signal)) {
    const approval = await hp.approvals.get(id);
    if (approval.edit !== null) continue;
    over.abort();
    return approval;
  }
  throw new Error("nobody follows any more");
}
