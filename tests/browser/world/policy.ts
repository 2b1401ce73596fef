/** The company's policy, as it was and as it is. */
import type { PolicyText } from "../../../src/index.ts";

type Rules = NonNullable<PolicyText["rules"]>;

const READS: Rules = [{ id: "reading", tool: "crm.lookup", verdict: "approve", reason: "it only reads" }];
const OTHERS: Rules = [
  {
    id: "staging",
    tool: "deploy.release",
    when: 'args.environment == "staging"',
    verdict: "approve",
    reason: "staging is for trying out",
  },
  {
    id: "production",
    tool: "deploy.release",
    when: 'args.environment == "production"',
    verdict: "escalate",
    reason: "production is changed with somebody's knowledge",
    approvers: { from: ["role:supervisor"] },
    decide_by: "4h",
  },
  {
    id: "schema",
    tool: "db.migrate",
    verdict: "escalate",
    reason: "a schema change is looked at by two people",
    approvers: { from: ["role:supervisor"], quorum: 2 },
    decide_by: "2d",
  },
  {
    id: "letters",
    tool: "mail.send",
    verdict: "escalate",
    reason: "customers read it",
    decide_by: "24h",
  },
  {
    id: "deletion",
    tool: "files.delete",
    verdict: "escalate",
    reason: "deleted files are gone for good",
    approvers: { from: ["role:supervisor"] },
    decide_by: "12h",
  },
  {
    id: "invoices",
    tool: "payments.pay",
    verdict: "escalate",
    reason: "finance looks first, then whoever answers for it",
    stages: [{ from: ["group:finance"] }, { from: ["role:admin"] }],
    decide_by: "3d",
  },
];

const refunds = (cap: number, byItself: number): Rules => [
  {
    id: "refund_cap",
    tool: "payments.refund",
    when: `args.amount_usd > ${cap}`,
    verdict: "block",
    reason: `no refund is over ${cap} USD`,
  },
  ...(byItself === 0
    ? []
    : ([
        {
          id: "small_refund",
          tool: "payments.refund",
          when: `args.amount_usd <= ${byItself}`,
          verdict: "approve",
          reason: `up to ${byItself} USD nobody is asked`,
        },
      ] as const)),
  {
    id: "refund",
    tool: "payments.refund",
    when: `args.amount_usd > ${byItself} && args.amount_usd <= ${cap}`,
    verdict: "escalate",
    reason: "money leaves the house",
    decide_by: "24h",
  },
];

const RISK: NonNullable<PolicyText["risk"]> = {
  conditions: [
    { id: "cannot_be_undone", tool: ["files.delete", "db.migrate"], when: true, weight: 55 },
    { id: "production", tool: "deploy.release", when: 'args.environment == "production"', weight: 35 },
    { id: "much_money", tool: "payments.refund", when: "args.amount_usd > 500", weight: 40 },
    { id: "whole_bucket", tool: "files.delete", when: "size(args.paths) > 3", weight: 40 },
    { id: "outside_of_transaction", tool: "db.migrate", when: "!args.in_transaction", weight: 30 },
  ],
};

const described = { policy: "operations", default: "block" as const };

/** Oldest first. The last one is in force. */
export const VERSIONS: readonly PolicyText[] = [
  { ...described, description: "What agents may do", rules: [...READS, ...refunds(1_000, 0), ...OTHERS] },
  {
    ...described,
    description: "What agents may do; small refunds by themselves",
    rules: [...READS, ...refunds(1_000, 20), ...OTHERS],
  },
  {
    ...described,
    description: "What agents may do; small refunds by themselves, and how dangerous it is",
    risk: RISK,
    rules: [
      ...READS,
      ...refunds(2_000, 20),
      ...OTHERS,
      {
        id: "large_refund_trial",
        description: "on trial: two people for large refunds",
        tool: "payments.refund",
        when: "args.amount_usd > 800",
        verdict: "escalate",
        approvers: { quorum: 2 },
        shadow: true,
      },
    ],
  },
];
