/** Which checkpoint an agent reached under which request id, and what it handed over: kept whatever became of it. */
import { digestOf } from "../../kernel/canonical-json.ts";
import type { ReachedBody } from "./events.ts";

export type Asked = {
  readonly requestId: string;
  readonly op: string;
  readonly name: string;
  readonly approval: string | null;
  /** Journals of before know the outputs only. */
  readonly content: { readonly of: "handed" | "outputs"; readonly digest: string };
};

export type KeepsAsked = {
  /** Every checkpoint that was reached under a request id; absent where none was. */
  readonly asked?: readonly Asked[];
};

export const namedIn = ({ requestId }: { readonly requestId?: string }) =>
  requestId === undefined ? {} : { requestId };

export function withAsked<State extends KeepsAsked>(
  state: State,
  { requestId, op, name, handed, outputs }: ReachedBody,
  approval: string | null,
): State {
  if (requestId === undefined) return state;
  const content =
    handed === undefined
      ? ({ of: "outputs", digest: digestOf(outputs) } as const)
      : ({ of: "handed", digest: handed } as const);
  // Journals of before may hold a request id twice: the last is what it stands for.
  const others = (state.asked ?? []).filter((one) => one.requestId !== requestId);
  return { ...state, asked: [...others, { requestId, op, name, approval, content }] };
}

export type Handed = { readonly name: string; readonly handed: string; readonly outputs: string };

export const isSameAsked = ({ name, content }: Asked, now: Handed): boolean =>
  name === now.name && content.digest === now[content.of];
