import { Link } from "@tanstack/react-router";
import type { Action } from "../../api/actions.ts";
import { Badge } from "../../ui/badge.tsx";
import { Facts } from "../../ui/facts.tsx";
import { Known } from "../../ui/known.tsx";
import { Strange } from "../../ui/strange.tsx";
import { riskOf } from "./risk-of.ts";

/** What policy said of it, by which rule, and what people were asked then. */
export function ReviewFacts({ action }: { readonly action: Action }) {
  const { review, approval_id: approval } = action;
  if (review === null) return <p className="text-small text-faint">Policy has not been asked yet.</p>;
  const risk = riskOf(review.risk);
  return (
    <Facts
      facts={[
        { name: "Verdict", value: <Badge status={review.verdict} /> },
        { name: "Rule", value: <Strange text={review.rule} className="font-mono" /> },
        review.reason === "" ? null : { name: "Because", value: <Strange text={review.reason} /> },
        risk === null
          ? null
          : {
              name: "Risk",
              value: (
                <span className="flex flex-wrap items-center gap-2">
                  <Badge status={risk.level} /> {risk.score}
                  <Strange text={risk.conditions.join(", ")} className="text-soft" />
                </span>
              ),
            },
        { name: "Policy", value: <Known id={review.policy} isShort /> },
        approval === null
          ? null
          : {
              name: "People were asked",
              value: (
                <Link to="/approvals/$id" params={{ id: approval }} className="underline underline-offset-3">
                  {approval}
                </Link>
              ),
            },
      ]}
    />
  );
}
