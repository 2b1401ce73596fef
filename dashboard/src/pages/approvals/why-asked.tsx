/** Which policy asks, by which rule, and how dangerous it thinks this is; once people changed it, which review said what. */
import { Badge } from "../../ui/badge.tsx";
import { type Fact, Facts } from "../../ui/facts.tsx";
import { Known } from "../../ui/known.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Strange } from "../../ui/strange.tsx";
import type { Desk } from "./use-desk.ts";
import { personName } from "./words.ts";

type Props = { readonly desk: Pick<Desk, "approval" | "card"> };
type Review = Desk["card"]["reviews"][number];

function Risk({ risk }: { readonly risk: NonNullable<Review["risk"]> }) {
  return (
    <div className="flex flex-col gap-1">
      <span className="flex items-center gap-2">
        <Badge status={risk.level} />
        <span className="figures text-faint">score {risk.score}</span>
      </span>
      <ul className="list-disc pl-4 text-soft">
        {risk.conditions.map((condition) => (
          <li key={condition}>
            <Strange text={condition} />
          </li>
        ))}
      </ul>
    </div>
  );
}

/** A policy that names no rule has this one. */
const UNNAMED = "policy";

function reasonOf({ reason, rule, verdict }: Review): string {
  if (reason !== "" || verdict !== "escalate") return reason;
  return rule === UNNAMED ? "No rule is named: this tool asks a person each time." : "";
}

function factsOf(review: Review): readonly (Fact | null)[] {
  const { rule, policy, policy_name, risk } = review;
  const reason = reasonOf(review);
  return [
    reason === "" ? null : { name: "Reason", value: <Strange text={reason} as="lines" /> },
    {
      name: "Policy",
      value: policy_name === null ? <Known id={policy} isShort /> : <Strange text={policy_name} />,
    },
    rule === "" || rule === UNNAMED
      ? null
      : { name: "Rule", value: <Strange text={rule} className="font-mono" /> },
    risk === null ? null : { name: "Risk", value: <Risk risk={risk} /> },
  ];
}

const SAYS: { readonly [verdict in Review["verdict"]]: string } = {
  approve: "it may run so, nobody need be asked",
  escalate: "people are to be asked",
  block: "it must not run",
};

/** One of several: of what, and what it came to. */
function OneOf({ review }: { readonly review: Review }) {
  const { edited_by: editor, verdict } = review;
  return (
    <section className="flex flex-col gap-2 border-t border-line pt-3 first:border-0 first:pt-0">
      <h3 className="text-small font-semibold">
        {editor === null ? (
          "Of what the agent asked for"
        ) : (
          <>
            Of what <Strange text={personName(editor)} /> made of it
          </>
        )}
      </h3>
      <Facts facts={[{ name: "Verdict", value: SAYS[verdict] }, ...factsOf(review)]} />
    </section>
  );
}

function Reviews({ reviews }: { readonly reviews: readonly Review[] }) {
  const [first] = reviews;
  if (first !== undefined && reviews.length === 1) return <Facts facts={factsOf(first)} />;
  return (
    <div className="flex flex-col gap-3">
      {reviews.map((review) => (
        <OneOf key={`${review.at} ${review.edited_by}`} review={review} />
      ))}
    </div>
  );
}

export function WhyAsked({ desk: { approval, card } }: Props) {
  const { about, reason } = approval;
  // The words of a question stand above the answer.
  if (about === "question") return null;
  const said = reason === "" ? null : { name: "Reason", value: <Strange text={reason} as="lines" /> };
  return (
    <Panel title={card.reviews.length > 1 ? "What policy said" : "Why it is asked"}>
      {card.reviews.length === 0 ? <Facts facts={[said]} /> : <Reviews reviews={card.reviews} />}
    </Panel>
  );
}
