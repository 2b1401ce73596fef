/**
 * What somebody writes before they approve: checked against schema and policy as they type.
 *
 * E1. Typing waits for nothing: what was written last is asked about, and only the answer to that counts.
 * E2. Whether it can be approved so is the server's word, and so is what would run then: a field that was left out and would run all
 *     the same holds it back.
 */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { type Tried, tryQuery } from "../../api/approvals.ts";
import { useSession } from "../../api/session.ts";
import { editOf, staysIn } from "../../format/edits.ts";
import { isObject, isSame, type Json, jsonOf, type Path } from "../../format/json.ts";
import { schemaOf } from "../../format/schema-of.ts";
import type { Desk } from "./use-desk.ts";
import { type KeptForm, useKeptForm } from "./use-kept-form.ts";

const PAUSE_MS = 250;
const PERMITS: ReadonlySet<Tried["outcome"]> = new Set(["stands", "asks", "unknown"]);

export type Draft = KeptForm & {
  readonly schema: Json;
  readonly before: Json;
  /** What would be sent; undefined where nothing differs. */
  readonly edit: Json | undefined;
  /** The answer to what stands there now, or, while that is on its way, the one before. */
  readonly tried: Tried | undefined;
  /** What would run, as the server says; what stands in the form, until it has said so. */
  readonly would: Json;
  /** What was proposed, is left out in the form, and would run all the same. */
  readonly stays: readonly Path[];
  readonly isChecking: boolean;
  readonly error: unknown;
  readonly canSend: boolean;
};

/** As text: the same edit is the same, whoever made it anew. */
function useLater(value: string): string {
  const [later, setLater] = useState(value);
  useEffect(() => {
    const timer = window.setTimeout(() => setLater(value), PAUSE_MS);
    return () => window.clearTimeout(timer);
  }, [value]);
  return later;
}

/** A question without a suggestion has an empty object in its place. */
const hasSuggestion = (args: Json): boolean => !isObject(args) || Object.keys(args).length > 0;

/** What an answer begins with that nobody has suggested. */
export type FirstAnswer = (schema: Json) => Json;

function beginning({ approval, card }: Pick<Desk, "approval" | "card">, firstAnswer: FirstAnswer) {
  const args = jsonOf(approval.args);
  if (approval.about !== "question") {
    const given = jsonOf(card.input_schema);
    return { first: args, schema: given === null ? schemaOf(args) : given };
  }
  const schema = jsonOf(approval.answer_schema) ?? {};
  return { first: hasSuggestion(args) ? args : firstAnswer(schema), schema };
}

export function useDraft(desk: Desk, firstAnswer: FirstAnswer): Draft {
  const { approval, card, isEditing, mayApprove } = desk;
  const session = useSession();
  const before = jsonOf(approval.args);
  const isAnswer = approval.about === "question";
  const [{ first, schema }] = useState(() => beginning({ approval, card }, firstAnswer));
  const written = useKeptForm(desk, first);
  const { form } = written;
  const isSuggested = isSame(before, form.value);
  const answer = isSuggested ? undefined : form.value;
  const edit = isAnswer ? answer : editOf(before, form.value);
  const text = edit === undefined ? "" : JSON.stringify(edit);
  const later = useLater(text);
  const { data, isFetching, error } = useQuery({
    ...tryQuery(session, approval, later),
    enabled: later !== "" && form.faults.size === 0 && (isEditing || (isAnswer && mayApprove)),
    placeholderData: keepPreviousData,
  });
  const isChecking = isFetching || later !== text;
  const tried = edit === undefined ? undefined : data;
  const isFit =
    isAnswer && edit === undefined
      ? hasSuggestion(before)
      : tried !== undefined && PERMITS.has(tried.outcome);
  // What policy would have instead does not run by itself.
  const isTold = !isChecking && tried !== undefined && tried.outcome !== "revised";
  const would = isTold ? jsonOf(tried.args) : form.value;
  const stays = staysIn(before, form.value, would);
  return {
    ...written,
    ...{ schema, before, edit, tried, would, stays, isChecking },
    error: edit === undefined ? null : error,
    canSend: isFit && stays.length === 0 && !isChecking && form.faults.size === 0,
  };
}
