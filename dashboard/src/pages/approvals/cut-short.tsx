/** Somebody else decided while something was written here: what happened, and what was written. */
import { changesBetween } from "../../format/edits.ts";
import { jsonOf } from "../../format/json.ts";
import { Icon } from "../../ui/icon.tsx";
import { Strange } from "../../ui/strange.tsx";
import { ChangesList } from "./changes-list.tsx";
import type { Desk } from "./use-desk.ts";
import type { Draft } from "./use-draft.ts";
import { endWords } from "./words.ts";

export function CutShort({ desk, draft }: { readonly desk: Desk; readonly draft: Draft }) {
  if (!desk.isCutShort || !draft.isWritten) return null;
  const changes = changesBetween(jsonOf(desk.seen.before.args), draft.form.value);
  return (
    <section role="alert" className="flex flex-col gap-3 rounded-large border-2 border-hold bg-hold-wash p-4">
      <h2 className="flex items-center gap-2 font-semibold text-hold">
        <Icon name="warn" /> It was decided while you wrote
      </h2>
      <p className="text-small">
        <Strange text={endWords(desk.approval)} /> What you wrote was not sent:
      </p>
      <ChangesList changes={changes} />
    </section>
  );
}
