/** A policy tried on everything that was recorded, before it goes live. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useEffect, useId, useRef, useState } from "react";
import { client } from "../../api/client.ts";
import { useDeed } from "../../api/use-deed.ts";
import { Choice } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Panel } from "../../ui/panel.tsx";
import { beginDraft, chooseAnew, setDraft, useDraft } from "./draft.ts";
import { offsetOf } from "./place-in-text.ts";
import { PolicyEditor } from "./policy-editor.tsx";
import { shortDigest } from "./policy-groups.ts";
import { type Check, checkQuery, versionQuery, versionsQuery } from "./policy-queries.ts";
import { Remarks } from "./remarks.tsx";
import { TrialRun } from "./trial-run.tsx";
import { type Terms, TrialTerms, termsOnWire } from "./trial-terms.tsx";
import { useSettled } from "./use-settled.ts";

const SETTLE_MS = 350;

/** A version as the beginning of a draft: the one that the address names, one that is chosen, or else the one in force. */
function BeginWith({ isEmpty }: { readonly isEmpty: boolean }) {
  const named = useSearch({ from: "/policies" })["from"] ?? "";
  const [digest, setDigest] = useState(named);
  const versions = useQuery(versionsQuery).data ?? [];
  const inForce = versions.findLast(({ standing }) => standing === "used")?.digest;
  const isUntouched = useRef(isEmpty && named === "");
  const text = useQuery(versionQuery(digest)).data?.text;
  const choose = useCallback((one: string) => {
    chooseAnew();
    setDigest(one);
  }, []);
  useEffect(() => {
    if (!isUntouched.current || inForce === undefined) return;
    isUntouched.current = false;
    choose(inForce);
  }, [inForce, choose]);
  useEffect(() => {
    if (text !== undefined) beginDraft(digest, text);
  }, [digest, text]);
  if (versions.length === 0) return null;
  return (
    <Choice
      label="Begin with"
      hint="Its text takes the place of what stands below."
      value={digest}
      onChange={(event) => choose(event.target.value)}
    >
      <option value="">a text of my own</option>
      {versions.toReversed().map(({ name, digest: one, standing, at }) => (
        <option key={`${one}${at}`} value={one}>
          {name} {shortDigest(one)}
          {standing === "used" ? ", in force" : ""}
        </option>
      ))}
    </Choice>
  );
}

function CheckedEditor({ draft }: { readonly draft: string }) {
  const id = useId();
  const box = useRef<HTMLTextAreaElement>(null);
  const check = useQuery(checkQuery(useSettled(draft, SETTLE_MS)));
  const isEmpty = draft.trim() === "";
  const go = ({ line, column }: Check["remarks"][number]) => {
    const at = offsetOf(draft, line, column);
    box.current?.focus();
    box.current?.setSelectionRange(at, at);
  };
  return (
    <>
      <PolicyEditor
        text={draft}
        remarks={isEmpty ? [] : (check.data?.remarks ?? [])}
        onChange={setDraft}
        box={box}
        describedBy={id}
      />
      <Remarks id={id} check={check.data} isEmpty={isEmpty} onGo={go} />
    </>
  );
}

export function BacktestTab() {
  const draft = useDraft();
  const [terms, setTerms] = useState<Terms>({ days: 0, amount: "" });
  const navigate = useNavigate();
  const trial = useSearch({ from: "/policies" })["trial"] ?? "";
  const begin = useDeed({
    does: (now: number) => client.policies.beginTrial({ text: draft, ...termsOnWire(terms, now) }),
    onDone: ({ trial_id }) =>
      void navigate({ to: "/policies", search: { tab: "backtest", trial: trial_id }, resetScroll: false }),
  });
  return (
    <div className="flex flex-col gap-4">
      <Panel title="The policy on trial">
        <Form
          deed={begin}
          submit="Run the back-test"
          isReady={draft.trim() !== ""}
          onSubmit={() => begin.run(Date.now())}
        >
          <BeginWith isEmpty={draft.trim() === ""} />
          <CheckedEditor draft={draft} />
          <TrialTerms terms={terms} onChange={setTerms} />
        </Form>
      </Panel>
      {trial === "" ? null : <TrialRun key={trial} id={trial} />}
    </div>
  );
}
