import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Action } from "../../api/actions.ts";
import { may, useSession } from "../../api/session.ts";
import { Badge } from "../../ui/badge.tsx";
import { Facts } from "../../ui/facts.tsx";
import { Known } from "../../ui/known.tsx";
import { Strange } from "../../ui/strange.tsx";
import { versionsQuery } from "../policies/policy-queries.ts";
import { riskOf } from "./risk-of.ts";

/** By the names of its documents, where whoever looks may read them and they were put in force here. */
function PolicyName({ of: { policy, documents } }: { readonly of: NonNullable<Action["review"]> }) {
  const mayRead = may(useSession(), "policies:read") && documents.length > 0;
  const { data = [] } = useQuery({ ...versionsQuery, enabled: mayRead });
  const known = data.filter(({ digest }) => documents.includes(digest));
  const names = [...new Set(known.map(({ name }) => name))];
  return (
    <span className="flex flex-wrap items-center gap-x-2">
      {names.length === 0 ? null : <Strange text={names.join(", ")} className="font-semibold" />}
      <Known id={policy} isShort className="text-faint" />
    </span>
  );
}

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
        review.reason === "" ? null : { name: "Because", value: <Strange isProse text={review.reason} /> },
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
        { name: "Policy", value: <PolicyName of={review} /> },
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
