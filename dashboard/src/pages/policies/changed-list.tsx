/** Actions that would be decided otherwise. Where people had said no, or changed it, that stands first and is marked. */

import { Link } from "@tanstack/react-router";
import { Suspense, useId, useState } from "react";
import { countText } from "../../format/amounts.ts";
import { momentText } from "../../format/times.ts";
import { lazyPart } from "../../shell/lazy-part.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { classes } from "../../ui/classes.ts";
import { Icon } from "../../ui/icon.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Loading } from "../../ui/states.tsx";
import { Strange } from "../../ui/strange.tsx";
import { When } from "../../ui/when.tsx";
import type { Report } from "./policy-queries.ts";
import { type Listed, listedChanges, verdictTone } from "./trial-figures.ts";

const ChangedArgs = lazyPart(async () => (await import("./changed-args.tsx")).ChangedArgs);

type Props = { readonly one: Listed };
type People = NonNullable<Listed["people"]>;

const SAID: { readonly [said in People]: string } = {
  approved: "people approved it",
  edited: "people changed it",
  rejected: "people rejected it",
  expired: "no decision before the deadline",
  cancelled: "the question was cancelled",
};
const isMarked = (people: People | null): boolean => people === "rejected" || people === "edited";
const AT_FIRST = 25;
/** Of an id: by its end it is told from its neighbours. */
const LAST = 6;

function Verdicts({ one: { from, to } }: Props) {
  return (
    <span className="flex flex-wrap items-center gap-1.5">
      <Badge status={from} tone={verdictTone(from)} />
      <Icon name="next" className="size-3.5 text-faint" />
      <span className="sr-only">becomes</span>
      <Badge status={to} tone={verdictTone(to)} />
    </span>
  );
}

function What({ one: { tool, agent, rule, reason, people } }: Props) {
  return (
    <span className="min-w-0">
      <span className="block font-mono font-semibold">
        <Strange text={tool} />
      </span>
      <span className="block text-soft">
        <Strange text={agent} /> · rule <Strange text={rule} className="font-mono" />
        {reason === `rule ${rule}` || reason === "" ? null : (
          <>
            {" · "}
            <Strange text={reason} />
          </>
        )}
      </span>
      {people === null ? null : (
        <span className={classes("font-semibold", isMarked(people) ? "text-stop" : "text-soft")}>
          {SAID[people]}
        </span>
      )}
    </span>
  );
}

function ChangedRow({ one }: Props) {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const isAgainst = isMarked(one.people);
  return (
    <li
      className={classes(
        "border-l-4 pb-2 text-small last:rounded-b-large",
        isAgainst ? "border-l-stop bg-stop-wash" : "border-l-transparent hover:bg-sunken",
      )}
    >
      <Link
        to="/actions/$id"
        params={{ id: one.action_id }}
        className="grid gap-x-4 gap-y-1 px-4 pt-2.5 pb-1 sm:grid-cols-[13rem_minmax(0,1fr)_auto]"
      >
        <Verdicts one={one} />
        <What one={one} />
        <span className={classes("sm:text-right", isAgainst ? "text-ink" : "text-faint")}>
          <span className="block whitespace-nowrap">
            {momentText(one.at)} (<When at={one.at} />)
          </span>
          <code className="font-mono text-tiny">act_…{one.action_id.slice(-LAST)}</code>
        </span>
      </Link>
      <div className="px-4 sm:pl-[15rem]">
        <Button
          size="small"
          kind="quiet"
          icon="down"
          className="-ml-3"
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? "Hide the arguments" : "Arguments"}
        </Button>
        <div id={id}>
          {isOpen ? (
            <div className="mt-1 mb-2 rounded-base border border-line bg-surface px-3 py-1">
              <Suspense fallback={<Loading lines={2} />}>
                <ChangedArgs args={one.args} />
              </Suspense>
            </div>
          ) : null}
        </div>
      </div>
    </li>
  );
}

export function ChangedList({ report }: { readonly report: Report }) {
  const [isAll, setAll] = useState(false);
  const { changed } = report;
  const listed = listedChanges(report);
  const shown = isAll ? listed : listed.slice(0, AT_FIRST);
  if (listed.length === 0) return null;
  return (
    <Panel
      isFlush
      title="Verdicts that change"
      aside={
        listed.length < changed
          ? `${countText(listed.length)} of ${countText(changed)} are listed`
          : countText(changed)
      }
    >
      <ul className="divide-y divide-line">
        {shown.map((one) => (
          <ChangedRow key={one.action_id} one={one} />
        ))}
      </ul>
      {shown.length === listed.length ? null : (
        <div className="flex justify-center border-t border-line p-3">
          <Button size="small" onClick={() => setAll(true)}>
            Show all {countText(listed.length)}
          </Button>
        </div>
      )}
    </Panel>
  );
}
