/** Why an action was decided as it was, or how one would be. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { Asked } from "../../ui/asked.tsx";
import { TextArea, TextField } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Segments } from "../../ui/segments.tsx";
import { Empty } from "../../ui/states.tsx";
import { useDraft } from "./draft.ts";
import { argsFault, BLANK, type ExplainForm, inputOf } from "./explain-input.ts";
import { Explanation } from "./explanation.tsx";
import { type Explained, type ExplainInput, explainQuery } from "./policy-queries.ts";

type Change = (change: Partial<ExplainForm>) => void;

function Imagined({ form, change }: { readonly form: ExplainForm; readonly change: Change }) {
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="Tool"
          value={form.tool}
          placeholder="payments.refund"
          spellCheck={false}
          onChange={(event) => change({ tool: event.target.value })}
        />
        <TextField
          label="Agent (may be left out)"
          value={form.agent}
          spellCheck={false}
          onChange={(event) => change({ agent: event.target.value })}
        />
      </div>
      <TextArea
        label="Arguments, as JSON"
        rows={6}
        spellCheck={false}
        value={form.args}
        fault={argsFault(form.args)}
        onChange={(event) => change({ args: event.target.value })}
      />
    </>
  );
}

function Recorded({ form, change }: { readonly form: ExplainForm; readonly change: Change }) {
  return (
    <TextField
      label="Action"
      hint="Its id, its effect's, or the request id. It stands on every action's page and in receipts."
      value={form.action}
      placeholder="act_…"
      spellCheck={false}
      onChange={(event) => change({ action: event.target.value })}
    />
  );
}

function DraftChoice({ form, change }: { readonly form: ExplainForm; readonly change: Change }) {
  return (
    <label className="flex min-h-8 items-center gap-2 text-small">
      <input
        type="checkbox"
        className="size-4 accent-ink"
        checked={form.byDraft}
        onChange={(event) => change({ byDraft: event.target.checked })}
      />
      by the text under Back-test, instead of the policies in force
    </label>
  );
}

type Asking = { readonly onAsk: (input: ExplainInput) => void; readonly first: ExplainForm };

function ExplainFields({ onAsk, first }: Asking) {
  const draft = useDraft();
  const [form, setForm] = useState(first);
  const change: Change = (part) => setForm({ ...form, ...part });
  const input = inputOf(form, draft);
  return (
    <Form
      deed={{ isBusy: false, error: undefined }}
      submit="Explain"
      isReady={input !== null}
      onSubmit={() => {
        if (input !== null) onAsk(input);
      }}
    >
      <Segments
        label="What is explained"
        value={form.of}
        options={[
          { id: "recorded", title: "A recorded action" },
          { id: "imagined", title: "A call that nobody made" },
        ]}
        onChange={(of) => change({ of })}
      />
      {form.of === "recorded" ? <Recorded {...{ form, change }} /> : <Imagined {...{ form, change }} />}
      {draft.trim() === "" ? null : <DraftChoice {...{ form, change }} />}
    </Form>
  );
}

function Explanations({ explanations }: { readonly explanations: readonly Explained[] }): ReactNode {
  if (explanations.length === 0)
    return (
      <Panel>
        <Empty icon="policy" title="No policy document speaks of this">
          The tool's own rule decides alone, and it is in the program that declares the tool.
        </Empty>
      </Panel>
    );
  return explanations.map((explained) => <Explanation key={explained.digest} explained={explained} />);
}

export function ExplainTab() {
  const action = useSearch({ from: "/policies" })["action"] ?? "";
  const navigate = useNavigate();
  const [asked, setAsked] = useState<ExplainInput | null>(action === "" ? null : { action_id: action });
  const query = useQuery(explainQuery(asked));
  const ask = (input: ExplainInput) => {
    setAsked(input);
    const named = input.action_id === undefined ? {} : { action: input.action_id };
    void navigate({ to: "/policies", search: { tab: "explain", ...named }, replace: true });
  };
  return (
    <div className="grid items-start gap-4 lg:grid-cols-[24rem_minmax(0,1fr)]">
      <Panel title="What is to be explained">
        <ExplainFields onAsk={ask} first={{ ...BLANK, action }} />
      </Panel>
      <div className="flex min-w-0 flex-col gap-4" aria-live="polite">
        {asked === null ? (
          <Panel>
            <Empty icon="policy" title="Which rule decides, and why">
              Every rule is shown with what it made of the action: whether it matches, whether it decided, and
              what could not be answered. Nothing runs and nothing is recorded.
            </Empty>
          </Panel>
        ) : (
          <Asked query={query}>{(explanations) => <Explanations explanations={explanations} />}</Asked>
        )}
      </div>
    </div>
  );
}
