/** Where somebody changes what will run, or writes an answer: the form, the difference, and what would become of it. */
import { useEffect, useMemo, useRef } from "react";
import { type Change, changesBetween } from "../../format/edits.ts";
import { isSame } from "../../format/json.ts";
import { MOST_BOXES } from "../../format/schema-form-share.ts";
import { Button } from "../../ui/button.tsx";
import { Panel } from "../../ui/panel.tsx";
import { FormContext } from "../../ui/schema-form/form-state.ts";
import { Given } from "../../ui/schema-form/given.tsx";
import { SchemaField } from "../../ui/schema-form/schema-field.tsx";
import { Share } from "../../ui/values/share.tsx";
import { ChangesList } from "./changes-list.tsx";
import type { Draft } from "./use-draft.ts";

// biome-ignore lint/performance/noBarrelFile: both travel in one file, which is loaded with the first change.
export { PolicyWord } from "./policy-word.tsx";

type Props = {
  readonly draft: Draft;
  readonly title: string;
  readonly isAnswer: boolean;
  readonly onLeave: () => void;
};

type DifferenceProps = { readonly changes: readonly Change[]; readonly isAsWritten: boolean };

function Difference({ changes, isAsWritten }: DifferenceProps) {
  return (
    <section aria-labelledby="difference" className="mt-5 flex flex-col gap-2 border-t border-line pt-4">
      <h3 id="difference" className="text-small font-semibold text-soft">
        The difference
      </h3>
      {isAsWritten ? null : (
        <p className="text-small text-hold">As it would run, which is not quite what you wrote.</p>
      )}
      <ChangesList changes={changes} />
    </section>
  );
}

function Kept({ draft }: Pick<Props, "draft">) {
  if (!draft.isKept) return null;
  return (
    <p className="mb-4 flex flex-wrap items-center gap-3 rounded-base bg-hold-wash px-3 py-2 text-small text-hold">
      <span className="grow">You wrote this before, and it was not sent.</span>
      <Button size="small" onClick={draft.beginAnew}>
        Begin anew
      </Button>
    </p>
  );
}

export function ModifyPanel({ draft, title, isAnswer, onLeave }: Props) {
  const { form, schema, before, tried, would, isChecking } = draft;
  const issues = isChecking ? undefined : tried?.issues;
  const surroundings = useMemo(
    () => ({ state: form, root: schema, before, issues: issues ?? [] }),
    [form, schema, before, issues],
  );
  const changes = changesBetween(before, would);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // Whoever wants to change something can write at once; an answer waits until it was read what for.
    if (!isAnswer) place.current?.querySelector<HTMLElement>("input, textarea, select")?.focus();
  }, [isAnswer]);
  return (
    <Panel title={title} className="shadow-[0_0_0_2px_var(--ink)]">
      {isAnswer ? <Given value={before} /> : null}
      <Kept draft={draft} />
      {/* biome-ignore lint/a11y/noStaticElementInteractions: Escape is heard from all fields within. */}
      <div ref={place} onKeyDown={({ key }) => (key === "Escape" && !isAnswer ? onLeave() : undefined)}>
        <FormContext value={surroundings}>
          <Share parts={MOST_BOXES}>
            <SchemaField
              schema={schema}
              path={[]}
              value={form.value}
              label={isAnswer ? "Your answer" : "All of it"}
            />
          </Share>
        </FormContext>
      </div>
      {isAnswer || changes.length === 0 ? null : (
        <Difference changes={changes} isAsWritten={isSame(would, form.value)} />
      )}
    </Panel>
  );
}
