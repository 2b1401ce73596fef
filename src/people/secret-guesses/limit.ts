/**
 * Limits guessing of secrets. Text that people write is searched for the values of the action's secrets, so that none
 * is stored in clear. A writer who learns whether a value was found could use that to guess.
 * - One allowance per writer and tenant, charged before any text is searched (rules.ts).
 * - A text that contains a value is dropped as a whole. The position of the value is never revealed.
 * - The price of a right guess is held until the act ends. A wrong guess gets it back. So does every text of a refused
 *   act: nothing of it is stored, and the allowance tells a person who may not act nothing.
 * - A rejection always gets through: if a decision or a withdrawal exceeds the allowance, only its text is dropped.
 * - Counted in this process, for as long as it runs.
 */

import { HoldpointError, isHoldpointError } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { redactText } from "../../runtime/secrets.ts";
import {
  type Allowance,
  type Charged,
  charge,
  giveBackWrongGuess,
  isAllowanceWhole,
  NOTHING_SPENT,
  newCharacters,
} from "./rules.ts";

const TEXT_HELD_A_SECRET = "[left out: the value of a secret stood in this text]";
const BEYOND_ALLOWANCE =
  "[left out: within an hour, too much was written about actions with secrets by whoever wrote this]";

/** The last edit per person and approval is kept, to find the new text in the next one: longest edit, and how many. */
const LONGEST_KEPT = 50_000;
const MOST_KEPT = 100;

type GuessDependencies = Pick<Runtime, "clock" | "secrets">;
type Written = { readonly allowances: Map<string, Allowance>; readonly last: Map<string, Json> };

/** Per tenant: each tenant has its own `secrets` object. */
const written = new WeakMap<Runtime["secrets"], Written>();

function writtenIn({ secrets }: GuessDependencies): Written {
  const own = written.get(secrets) ?? { allowances: new Map(), last: new Map() };
  written.set(secrets, own);
  return own;
}

const nowOf = ({ clock }: GuessDependencies): number => clock.elapsed?.() ?? clock.now();

function chargeTo(place: GuessDependencies, by: string, characters: number): Charged {
  const { allowances } = writtenIn(place);
  const now = nowOf(place);
  for (const [name, allowance] of allowances) if (isAllowanceWhole(allowance, now)) allowances.delete(name);
  const answer = charge(allowances.get(by) ?? NOTHING_SPENT, characters, now);
  if (answer.kind === "charged") allowances.set(by, answer.allowance);
  return answer;
}

function giveBack(place: GuessDependencies, by: string): void {
  const { allowances } = writtenIn(place);
  allowances.set(by, giveBackWrongGuess(allowances.get(by) ?? NOTHING_SPENT));
}

function refuse(answer: Exclude<Charged, { kind: "charged" }>): never {
  if (answer.kind === "too_long")
    throw new HoldpointError(
      "payload_too_large",
      `Of an action with secrets at most ${answer.most} characters are changed at a time.`,
      { next: "Change less at a time, or reject it and say what should be different." },
    );
  const what = "Within an hour, too much was written about actions with secrets by whoever wrote this.";
  const wait = Math.max(1, Math.ceil(answer.waitMs / 1_000));
  throw new HoldpointError("rate_limited", what, { details: { retry_after: wait } });
}

type Wording = {
  readonly by: string;
  readonly text: string;
  /** Secrets of the action that the text is about. */
  readonly known: ReadonlyMap<string, string>;
};

type ActEnd = "done" | "refused";
/** `settle` is called once, at the end of the act. */
type KeptText = { readonly text: string; readonly settle: (end: ActEnd) => void };

const settleNothing = (): void => undefined;

/** Text to store with an act. Over the allowance the text is dropped; if it is the whole act, the act is refused. */
export function keepText(
  place: GuessDependencies,
  { by, text, known }: Wording,
  { isWholeAct }: { readonly isWholeAct: boolean } = { isWholeAct: false },
): KeptText {
  if (known.size === 0) return { text, settle: settleNothing };
  const answer = chargeTo(place, by, text.length);
  if (answer.kind !== "charged")
    return isWholeAct ? refuse(answer) : { text: BEYOND_ALLOWANCE, settle: settleNothing };
  const isRight = redactText(text, known) !== text;
  const settle = (end: ActEnd) => {
    if (end === "refused" || !isRight) giveBack(place, by);
  };
  return { text: isRight ? TEXT_HELD_A_SECRET : text, settle };
}

/** Runs an act with kept texts. A `HoldpointError` is a refusal; after any other the price stays spent. */
export async function settleTexts<Result>(
  texts: readonly KeptText[],
  act: () => Promise<Result> | Result,
): Promise<Result> {
  const settleAll = (end: ActEnd) => {
    for (const { settle } of texts) settle(end);
  };
  try {
    const result = await act();
    settleAll("done");
    return result;
  } catch (error) {
    if (isHoldpointError(error)) settleAll("refused");
    throw error;
  }
}

function remember({ last }: Written, name: string, edit: Json): void {
  last.delete(name);
  if (JSON.stringify(edit).length > LONGEST_KEPT) return;
  last.set(name, edit);
  for (const oldest of last.keys()) if (last.size > MOST_KEPT) last.delete(oldest);
}

type EditGuess = {
  readonly approval: { readonly id: string; readonly args: Json };
  readonly by: string;
  readonly edit: Json;
  readonly known: ReadonlyMap<string, string>;
};

/** `judge` throws `secret_transformed` if the edit contains a secret's value. */
export async function chargeEditGuess<Result>(
  place: GuessDependencies,
  { approval, by, edit, known }: EditGuess,
  judge: () => Promise<Result>,
): Promise<Result> {
  if (known.size === 0) return judge();
  const own = writtenIn(place);
  const name = `${approval.id} ${by}`;
  const last = own.last.get(name);
  const before = last === undefined ? [approval.args] : [approval.args, last];
  const answer = chargeTo(place, by, newCharacters(edit, before));
  if (answer.kind !== "charged") return refuse(answer);
  remember(own, name, edit);
  try {
    const result = await judge();
    giveBack(place, by);
    return result;
  } catch (error) {
    if (!isHoldpointError(error, "secret_transformed")) giveBack(place, by);
    throw error;
  }
}
