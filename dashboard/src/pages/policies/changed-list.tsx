/** Actions that would be decided otherwise. Where people had said no, or changed it, that stands first and is marked. */
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { countText } from "../../format/amounts.ts";
import { momentText } from "../../format/times.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { classes } from "../../ui/classes.ts";
import { Icon } from "../../ui/icon.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Strange } from "../../ui/strange.tsx";
import { When } from "../../ui/when.tsx";
import type { Report } from "./policy-queries.ts";
import { verdictTone } from "./verdict-order.ts";

type Changed = Report["listed"][number];
type People = NonNullable<Changed["people"]>;

const SAID: { readonly [said in People]: string } = {
  approved: "people approved it",
  modified: "people changed it",
  rejected: "people rejected it",
  expired: "nobody decided in time",
  cancelled: "the question was cancelled",
};
const SPOKE_AGAINST: readonly (People | null)[] = ["rejected", "modified"];
const AT_FIRST = 25;
/** Of an id: by its end it is told from its neighbours. */
const LAST = 6;

function ChangedRow({ one }: { readonly one: Changed }) {
  const isMarked = SPOKE_AGAINST.includes(one.people);
  return (
    <li
      className={classes(
        "border-l-4 last:rounded-b-large",
        isMarked ? "border-l-stop bg-stop-wash" : "border-l-transparent hover:bg-sunken",
      )}
    >
      <Link
        to="/actions/$id"
        params={{ id: one.action_id }}
        className="grid gap-x-4 gap-y-1 px-4 py-2.5 text-small sm:grid-cols-[13rem_minmax(0,1fr)_auto]"
      >
        <span className="flex flex-wrap items-center gap-1.5">
          <Badge status={one.from} tone={verdictTone(one.from)} />
          <Icon name="next" className="size-3.5 text-faint" />
          <span className="sr-only">becomes</span>
          <Badge status={one.to} tone={verdictTone(one.to)} />
        </span>
        <span className="min-w-0">
          <span className="block font-mono font-semibold">
            <Strange text={one.tool} />
          </span>
          <span className="block text-soft">
            <Strange text={one.agent} /> · rule <Strange text={one.rule} className="font-mono" />
            {one.reason === `rule ${one.rule}` || one.reason === "" ? null : (
              <>
                {" · "}
                <Strange text={one.reason} />
              </>
            )}
          </span>
          {one.people === null ? null : (
            <span className={classes("font-semibold", isMarked ? "text-stop" : "text-soft")}>
              {SAID[one.people]}
            </span>
          )}
        </span>
        <span className={classes("sm:text-right", isMarked ? "text-ink" : "text-faint")}>
          <span className="block whitespace-nowrap">
            {momentText(one.at)} (<When at={one.at} />)
          </span>
          <code className="font-mono text-tiny">act_…{one.action_id.slice(-LAST)}</code>
        </span>
      </Link>
    </li>
  );
}

export function ChangedList({ report }: { readonly report: Report }) {
  const [isAll, setAll] = useState(false);
  const { listed, changed } = report;
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
