/** What would become of an edit, while it is written. */
import type { ReactNode } from "react";
import type { Tried } from "../../api/approvals.ts";
import { changesBetween } from "../../format/edits.ts";
import { jsonOf, pathText } from "../../format/json.ts";
import { Button } from "../../ui/button.tsx";
import { classes } from "../../ui/classes.ts";
import { Icon, type IconName } from "../../ui/icon.tsx";
import { Strange } from "../../ui/strange.tsx";
import { type Tone, WASH } from "../../ui/tone.ts";
import { ChangesList } from "./changes-list.tsx";
import type { Draft } from "./use-draft.ts";

const LOOKS: { readonly [outcome in Tried["outcome"]]: readonly [IconName, Tone, string] } = {
  same: ["check", "plain", "Nothing is changed."],
  misfit: ["warn", "stop", "It does not fit what the tool takes."],
  blocked: ["stop", "stop", "Policy blocks this."],
  revised: ["edit", "hold", "Policy would change it."],
  asks: ["person", "hold", "Other people would be asked about this."],
  stands: ["check", "go", "It can be approved so."],
  unknown: ["doubt", "note", "Whoever has the tool decides whether it can be so."],
};

function Verdict({ verdict }: { readonly verdict: NonNullable<Tried["verdict"]> }) {
  return (
    <p>
      Rule <Strange text={verdict.rule} className="font-mono font-semibold" />
      {verdict.reason === "" ? "" : ": "}
      <Strange text={verdict.reason} as="lines" />
    </p>
  );
}

function Issues({ issues }: { readonly issues: Tried["issues"] }) {
  return (
    <ul className="list-disc pl-4">
      {issues.map(({ path, message }) => (
        <li key={`${path.join(".")} ${message}`}>
          {path.length === 0 ? null : <Strange text={`${path.join(".")}: `} className="font-mono" />}
          <Strange text={message} />
        </li>
      ))}
    </ul>
  );
}

type NoticeProps = {
  readonly icon: IconName;
  readonly tone: Tone;
  readonly title: string;
  readonly children?: ReactNode;
};

function Notice({ icon, tone, title, children }: NoticeProps) {
  return (
    <div className={classes("flex gap-2 rounded-base px-3 py-2 text-small", WASH[tone])}>
      <Icon name={icon} className="mt-0.5 size-4" />
      <div className="flex min-w-0 grow flex-col gap-1">
        <p className="font-semibold">
          <Strange text={title} />
        </p>
        {children}
      </div>
    </div>
  );
}

/** What policy would make of it, to be taken over as it is. */
function Revision({ tried, draft }: { readonly tried: Tried; readonly draft: Draft }) {
  const args = jsonOf(tried.args);
  const changes = changesBetween(draft.form.value, args);
  if (changes.length === 0) return null;
  return (
    <>
      <ChangesList changes={changes} />
      <Button size="small" className="self-start" onClick={() => draft.form.reset(args)}>
        Write it so
      </Button>
    </>
  );
}

const MOST_NAMED = 10;

/** An edit replaces fields: one that is not in it stays. */
function Stays({ draft: { stays, would, form } }: { readonly draft: Draft }) {
  const more = stays.length - MOST_NAMED;
  return (
    <Notice icon="warn" tone="stop" title="What was proposed cannot be left out.">
      <p>
        <Strange text={stays.slice(0, MOST_NAMED).map(pathText).join(", ")} className="font-mono" />
        {more > 0 ? ` and ${more} more` : ""}: it stays, and would run.
      </p>
      <Button size="small" className="self-start" onClick={() => form.reset(would)}>
        Put back what stays
      </Button>
    </Notice>
  );
}

export function PolicyWord({ draft }: { readonly draft: Draft }) {
  const { edit, tried, form, stays, isChecking, error } = draft;
  if (form.faults.size > 0) return <Notice icon="warn" tone="stop" title="Something of it is no JSON yet." />;
  if (edit === undefined) return <Notice icon="edit" tone="plain" title="Nothing is changed yet." />;
  if (error !== null && !isChecking)
    return (
      <Notice icon="warn" tone="stop" title="It could not be checked.">
        {error instanceof Error ? <Strange text={error.message} /> : null}
      </Notice>
    );
  if (stays.length > 0) return <Stays draft={draft} />;
  if (tried === undefined) return <Notice icon="clock" tone="plain" title="Checking…" />;
  const [icon, tone, title] = LOOKS[tried.outcome];
  return (
    <div
      aria-live="polite"
      aria-busy={isChecking}
      className={classes("transition-opacity", isChecking && "opacity-60")}
    >
      <Notice icon={icon} tone={tone} title={isChecking ? `${title} Checking what you wrote since…` : title}>
        {tried.verdict === null ? null : <Verdict verdict={tried.verdict} />}
        {tried.issues.length === 0 ? null : <Issues issues={tried.issues} />}
        {tried.outcome === "revised" ? <Revision tried={tried} draft={draft} /> : null}
      </Notice>
    </div>
  );
}
