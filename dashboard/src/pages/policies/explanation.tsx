/** What one policy says of an action, rule by rule. */
import { Badge } from "../../ui/badge.tsx";
import { classes } from "../../ui/classes.ts";
import { Icon, type IconName } from "../../ui/icon.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Strange } from "../../ui/strange.tsx";
import { shortDigest } from "./policy-groups.ts";
import type { Explained } from "./policy-queries.ts";

type Rule = Explained["rules"][number];

const STATES: { readonly [state in Rule["state"]]: readonly [string, IconName] } = {
  decided: ["this one decided", "check"],
  matched: ["matches, and another one was stricter or came first", "check"],
  did_not_match: ["does not match", "cross"],
  other_tool: ["is about another tool", "more"],
  shadow: ["matches, and is on trial: it decides nothing", "clock"],
  failed: ["could not be answered", "warn"],
};

function RuleRow({ rule: { id, verdict, state, note } }: { readonly rule: Rule }) {
  const [words, icon] = STATES[state];
  const isDim = state === "other_tool" || state === "did_not_match";
  return (
    <li
      className={classes(
        "grid grid-cols-[1.25rem_minmax(0,1fr)_auto] items-start gap-x-3 border-l-4 px-4 py-2.5 last:rounded-b-large",
        state === "decided" ? "border-l-ink bg-sunken" : "border-l-transparent",
      )}
    >
      <Icon name={icon} className={classes("mt-0.5 size-4", isDim ? "text-faint" : "text-ink")} />
      <div className="min-w-0">
        <p className={classes("font-mono text-small", isDim ? "text-soft" : "font-semibold")}>
          <Strange text={id} />
        </p>
        <p className="text-small text-soft">
          {words}
          {note === "" ? null : (
            <>
              {": "}
              <Strange isProse text={note} />
            </>
          )}
        </p>
      </div>
      <Badge status={verdict} {...(isDim ? { tone: "plain" as const } : {})} />
    </li>
  );
}

function Said({ title, said }: { readonly title: string; readonly said: Explained["recorded"] }) {
  if (said === null) return null;
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <p className="text-tiny text-faint">{title}</p>
      <p className="flex flex-wrap items-center gap-2">
        <Badge status={said.verdict} />
        <code className="font-mono text-small">
          <Strange text={said.rule} />
        </code>
      </p>
      {said.reason === "" ? null : <Strange isProse text={said.reason} className="text-small text-soft" />}
    </div>
  );
}

function Risk({ risk }: { readonly risk: NonNullable<Explained["risk"]> }) {
  return (
    <div className="flex flex-col gap-1">
      <p className="text-tiny text-faint">Risk</p>
      <p className="flex flex-wrap items-center gap-2 text-small">
        <Badge status={risk.level} />
        <span className="figures">{risk.score} points</span>
      </p>
      {risk.conditions.length === 0 ? null : (
        <Strange text={risk.conditions.join(", ")} className="text-small text-soft" />
      )}
    </div>
  );
}

export function Explanation({ explained }: { readonly explained: Explained }) {
  const { policy, digest, final, recorded, risk, rules, notes } = explained;
  return (
    <Panel
      isFlush
      title={<Strange text={policy} />}
      aside={<code className="font-mono">{shortDigest(digest)}</code>}
    >
      <div className="grid gap-4 border-b border-line p-4 sm:grid-cols-3 sm:px-5">
        <Said title={recorded === null ? "It says" : "It says now"} said={final} />
        <Said title="Was said then" said={recorded} />
        {risk === null ? null : <Risk risk={risk} />}
      </div>
      {final.changed ? (
        <div className="border-b border-line p-4 sm:px-5">
          <p className="text-small font-semibold">It would run with other arguments:</p>
          <Strange
            as="json"
            text={JSON.stringify(final.args, null, 2)}
            className="mt-1 block rounded-base bg-sunken p-3 font-mono text-small"
          />
        </div>
      ) : null}
      <ol className="divide-y divide-line">
        {rules.map((rule) => (
          <RuleRow key={rule.id} rule={rule} />
        ))}
      </ol>
      {notes.map((note) => (
        <p key={note} className="border-t border-line px-4 py-2.5 text-small text-soft sm:px-5">
          <Strange isProse text={note} />
        </p>
      ))}
      {rules.length === 0 ? (
        <p className="p-4 text-small text-soft sm:px-5">It has no rules of its own.</p>
      ) : null}
    </Panel>
  );
}
