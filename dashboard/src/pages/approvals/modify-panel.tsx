/** Where somebody changes what will run, or writes an answer: the form, the difference, and what would become of it. */
import { useMemo } from "react";
import { changesBetween } from "../../format/edits.ts";
import { Panel } from "../../ui/panel.tsx";
import { FormContext } from "../../ui/schema-form/form-state.ts";
import { SchemaField } from "../../ui/schema-form/schema-field.tsx";
import { ChangesList } from "./changes-list.tsx";
import { PolicyWord } from "./policy-word.tsx";
import type { Draft } from "./use-draft.ts";

type Props = { readonly draft: Draft; readonly title: string; readonly isAnswer: boolean };

export function ModifyPanel({ draft, title, isAnswer }: Props) {
  const { form, schema, before, tried, isChecking } = draft;
  const issues = isChecking ? undefined : tried?.issues;
  const surroundings = useMemo(
    () => ({ state: form, root: schema, before, issues: issues ?? [] }),
    [form, schema, before, issues],
  );
  const changes = changesBetween(before, form.value);
  return (
    <Panel title={title} className="border-2 border-ink">
      <FormContext value={surroundings}>
        <SchemaField
          schema={schema}
          path={[]}
          value={form.value}
          label={isAnswer ? "Your answer" : "All of it"}
        />
      </FormContext>
      <div className="mt-5 flex flex-col gap-4 border-t border-line pt-4">
        {isAnswer && draft.edit === undefined ? null : <PolicyWord draft={draft} />}
        {isAnswer || changes.length === 0 ? null : (
          <section aria-labelledby="difference" className="flex flex-col gap-2">
            <h3 id="difference" className="text-small font-semibold text-soft">
              The difference
            </h3>
            <ChangesList changes={changes} />
          </section>
        )}
      </div>
    </Panel>
  );
}
