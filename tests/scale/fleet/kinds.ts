/** What a load consists of: each kind of work, done so many times, on whatever the store holds. */
import { type Holdpoint, holdpoint } from "../../../src/index.ts";

export const KINDS = ["performed", "approved", "rejected", "suspended"] as const;
export type Kind = (typeof KINDS)[number];
export type Load = { readonly [K in Kind]?: number };

const LANES = 100;
const ANN = "person:ann";
const MEMO = "one payment of a large test, with a memo as people write it";

export type Crew = {
  /** One of that kind, the `number`th of its life. */
  readonly [K in Kind]: (number: string) => Promise<void>;
};

const argsOf = (number: string) => ({ to: `account-${number}`, amount: 100, memo: MEMO });

export function createCrew(hp: Holdpoint): Crew {
  const pay = hp.gate({ name: "pay", policy: "approve", run: () => ({ paid: true }) });
  const transfer = hp.gate({ name: "transfer", policy: "escalate", run: () => ({ moved: true }) });
  const review = hp.workflow("review", async (ctx, input: { readonly number: string }) => {
    const found = await ctx.step("look up", () => argsOf(input.number));
    await ctx.checkpoint("Review", { summary: input.number, outputs: found });
    return input.number;
  });
  const asked = async (number: string): Promise<string> => {
    const answer = await transfer(argsOf(number), { requestId: number, waitMs: 0 });
    if (answer.status !== "pending" || answer.approval === null) throw new Error("nobody is asked");
    return answer.approval;
  };
  return {
    async performed(number) {
      await pay(argsOf(number), { requestId: number });
    },
    async approved(number) {
      await hp.approvals.approve(await asked(number), { by: ANN });
      await transfer(argsOf(number), { requestId: number });
    },
    async rejected(number) {
      await hp.approvals.reject(await asked(number), { by: ANN, reason: "not this time" });
    },
    async suspended(number) {
      const { id } = await review.start({ number });
      while ((await hp.workflows.get(id)).runner !== null)
        await new Promise((resolve) => setTimeout(resolve, 5));
    },
  };
}

type Work = { readonly load: Load; readonly life: string; readonly lanes?: number };

/** Kind after kind, so many at a time. */
export async function work(
  crew: Crew,
  { load, life, lanes = LANES }: Work,
  progress: (text: string) => void = () => undefined,
): Promise<void> {
  for (const kind of KINDS) {
    const many = load[kind] ?? 0;
    let next = 0;
    const lane = async () => {
      for (let number = next++; number < many; number = next++) {
        await crew[kind](`${life}-${kind}-${number}`);
        if (number % 20_000 === 0 && number > 0) progress(`${number} of ${many} ${kind}`);
      }
    };
    await Promise.all(Array.from({ length: lanes }, lane));
  }
}

export async function withCrew<Answer>(
  database: string,
  act: (crew: Crew, hp: Holdpoint) => Promise<Answer>,
): Promise<Answer> {
  const hp = holdpoint({ database, notify: () => undefined });
  try {
    return await act(createCrew(hp), hp);
  } finally {
    await hp.close();
  }
}
