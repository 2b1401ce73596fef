/** One of several that are decided together: all of what is decided on, or why it is left out. */
import type { CardAnswer, useDecideAll } from "../../api/approvals.ts";
import { countText, moneyText } from "../../format/amounts.ts";
import { isObject, type Json, jsonOf, textIn } from "../../format/json.ts";
import { Badge } from "../../ui/badge.tsx";
import { LookAlike } from "../../ui/look-alike.tsx";
import { Strange } from "../../ui/strange.tsx";
import { RiskBadge } from "./risk-badge.tsx";
import { personName } from "./words.ts";

type Answers = ReturnType<typeof useDecideAll>["data"];
type Props = {
  /** As it was when the dialogue was opened. */
  readonly answer: CardAnswer;
  /** Why it is not decided with the others. */
  readonly leftOut: string | null;
  readonly answers: Answers;
};

/** Of what a row does not show whole: it is not approved here. */
const LONG = 300;

/** As JSON: "40" is not 40. */
function Value({ value, isWhole }: { readonly value: Json; readonly isWhole: boolean }) {
  const text = JSON.stringify(value);
  const left = isWhole ? 0 : text.length - LONG;
  return (
    <>
      <Strange text={left > 0 ? text.slice(0, LONG) : text} as="json" className="font-mono text-ink" />
      {left > 0 ? (
        <span className="font-semibold text-hold"> … {countText(left)} characters more</span>
      ) : null}
    </>
  );
}

type ArgsProps = { readonly args: Json; readonly isWhole: boolean };

function Arguments({ args, isWhole }: ArgsProps) {
  if (!isObject(args)) return <Value value={args} isWhole={isWhole} />;
  const fields = Object.entries(args);
  if (fields.length === 0) return <span className="text-faint">no arguments</span>;
  return fields.map(([name, value]) => (
    <span key={name} className="block">
      <Strange text={name} className="text-faint" />
      <LookAlike name={name} />: <Value value={value} isWhole={isWhole} />
    </span>
  ));
}

function Says({ says }: { readonly says: string | null }) {
  if (says === null || says.trim() === "") return null;
  return (
    <p className="border-l-2 border-dashed border-edge pl-2 text-soft">
      <span className="text-tiny text-hold">The agent says, not checked:</span>{" "}
      <Strange text={says.length > LONG ? `${says.slice(0, LONG)}…` : says} as="lines" />
    </p>
  );
}

/** Of what would run: people may have changed it since it was asked. */
function Why({ answer: { approval, card } }: Pick<Props, "answer">) {
  const { rule, reason } = card.reviews.at(-1) ?? approval;
  return (
    <p className="flex flex-wrap items-center gap-x-2 text-soft">
      {rule === "" ? null : <Strange text={rule} className="font-mono" />}
      {reason === "" ? null : <Strange text={reason} />}
      {card.risk === null ? null : <RiskBadge level={card.risk.level} />}
    </p>
  );
}

function Costs({ answer: { card } }: Pick<Props, "answer">) {
  return card.costs.map(({ budget, amount }) => (
    <p key={budget} className="text-soft">
      costs <span className="figures font-semibold text-ink">{moneyText(amount)}</span> of the budget{" "}
      <Strange text={budget} />
    </p>
  ));
}

/** What is used up in the commit that decides it was approved. */
const wordOf = (status: string | null): string =>
  status === "consumed" ? "approved" : (status ?? "recorded");

export function BatchRow({ answer, leftOut, answers }: Props) {
  const { approval, card } = answer;
  const result = answers?.decisions.find(({ request_id }) => request_id === approval.request_id);
  const problem = result?.ok === false ? textIn(jsonOf(result.error), "detail") : undefined;
  return (
    <li className="flex flex-col gap-1 border-b border-line px-3 py-2 text-small last:border-0">
      <span className="flex items-center gap-2">
        <Strange text={approval.tool} className="font-semibold" />
        <Strange text={personName(approval.agent)} className="grow text-faint" />
        {result === undefined ? null : (
          <Badge
            status={result.ok ? wordOf(result.decided.status) : "not decided"}
            tone={result.ok ? "go" : "stop"}
          />
        )}
      </span>
      <div className="text-soft">
        <Arguments args={jsonOf(approval.args)} isWhole={card.shown_row !== null} />
      </div>
      <Says says={approval.rationale} />
      <Why answer={answer} />
      <Costs answer={answer} />
      {leftOut === null ? null : (
        <span className="font-semibold text-hold">
          Left out: <Strange text={leftOut} />
        </span>
      )}
      {problem === undefined ? null : <Strange text={problem} className="text-stop" />}
    </li>
  );
}
