/**
 * What somebody writes before they approve: checked against schema and policy as they type.
 *
 * E1. Typing waits for nothing: what was written last is asked about, and only the answer to that counts.
 * E2. Whether it can be approved so is the server's word.
 */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { type Tried, tryQuery } from "../../api/approvals.ts";
import { useSession } from "../../api/session.ts";
import { editOf } from "../../format/edits.ts";
import { isObject, isSame, type Json, jsonOf } from "../../format/json.ts";
import { firstValue, schemaOf } from "../../format/schema-form.ts";
import { type FormState, useFormState } from "../../ui/schema-form/form-state.ts";
import type { Desk } from "./use-desk.ts";

const PAUSE_MS = 250;
const PERMITS: ReadonlySet<Tried["outcome"]> = new Set(["stands", "asks", "unknown"]);

export type Draft = {
  readonly form: FormState;
  readonly schema: Json;
  readonly before: Json;
  /** What would be sent; undefined where nothing differs. */
  readonly edit: Json | undefined;
  /** The answer to what stands there now, or, while that is on its way, the one before. */
  readonly tried: Tried | undefined;
  readonly isChecking: boolean;
  readonly error: unknown;
  readonly canSend: boolean;
  /** Something stands there that nobody proposed. */
  readonly isWritten: boolean;
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

function beginning({ approval, card }: Pick<Desk, "approval" | "card">) {
  const args = jsonOf(approval.args);
  if (approval.about !== "question") {
    const given = jsonOf(card.input_schema);
    return { first: args, schema: given === null ? schemaOf(args) : given };
  }
  const schema = jsonOf(approval.answer_schema) ?? {};
  return { first: hasSuggestion(args) ? args : firstValue(schema), schema };
}

export function useDraft({ approval, card, isEditing, mayApprove }: Desk): Draft {
  const session = useSession();
  const before = jsonOf(approval.args);
  const isAnswer = approval.about === "question";
  const [{ first, schema }] = useState(() => beginning({ approval, card }));
  const form = useFormState(first);
  const isSuggested = isSame(before, form.value);
  const answer = isSuggested ? undefined : form.value;
  const edit = isAnswer ? answer : editOf(before, form.value);
  const written = edit === undefined ? "" : JSON.stringify(edit);
  const later = useLater(written);
  const { data, isFetching, error } = useQuery({
    ...tryQuery(session, approval, later),
    enabled: later !== "" && form.faults.size === 0 && (isEditing || (isAnswer && mayApprove)),
    placeholderData: keepPreviousData,
  });
  const isChecking = isFetching || later !== written;
  const tried = edit === undefined ? undefined : data;
  const isFit =
    isAnswer && edit === undefined
      ? hasSuggestion(before)
      : tried !== undefined && PERMITS.has(tried.outcome);
  return {
    ...{ form, schema, before, edit, tried, isChecking },
    error: edit === undefined ? null : error,
    isWritten: !isSame(first, form.value),
    canSend: isFit && !isChecking && form.faults.size === 0,
  };
}
