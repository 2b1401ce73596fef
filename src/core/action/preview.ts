/**
 * What a tool shows of a call before it is made: the diff, the resolved targets. Rules ask for it, the engine computes it.
 *
 * Y1. It is shown to people, and its digest is part of what they approve.
 * Y2. It is computed again before what they approved starts; another digest sends the action back to them,
 *     even if the policy would not ask them by then.
 * Y3. One that fails shows why: a failure where there was none is another preview.
 */

import type { Preview, ShownPreview } from "../../approvals/state.ts";
import { digestOf } from "../../kernel/canonical-json.ts";
import type { Json } from "../../kernel/json.ts";
import { actionStream } from "../../kernel/stream.ts";
import type { Draft } from "../../kernel/transaction.ts";

import type { Executor, Load } from "../../policy/rules/tool-rules.ts";

import type { LiveAction } from "./state.ts";

export const PREVIEW_MOVED = "what the preview showed has moved";

/** What is computed to ask with is never what an approval is used by: each approval has a key of its own. */
export const previewKey = (argsDigest: string, approval: string | null = null): string =>
  approval === null ? `preview/${argsDigest}` : `preview/${argsDigest}/${approval}`;

/** `approval` is the one that is about to be used; null where people are about to be asked. */
export type PreviewOf = { readonly action: string; readonly args: Json; readonly approval: string | null };

/** Null where the tool declares none. */
export function previewNow(
  draft: Draft,
  { action, args, approval }: PreviewOf,
  { rules, loaded }: Pick<Executor, "rules" | "loaded">,
): Load | { readonly kind: "preview"; readonly preview: Preview | null } {
  if (rules.hasPreview !== true) return { kind: "preview", preview: null };
  const key = previewKey(digestOf(args), approval);
  const shown = loaded.get(key) as unknown as ShownPreview | undefined;
  if (shown !== undefined)
    return {
      kind: "preview",
      preview: { value: shown.value, failed: shown.failed, digest: digestOf(shown) },
    };
  const { requestId, agent } = draft.state(actionStream(action)) as LiveAction;
  return { kind: "load", key, preview: { action, requestId, agent, args } };
}

export const isSamePreview = (asked: Preview | undefined, now: Preview | null): boolean =>
  asked?.digest === now?.digest;
