/** Which policy asks, by which rule, and how dangerous it thinks this is. */
import { Badge } from "../../ui/badge.tsx";
import { Facts } from "../../ui/facts.tsx";
import { Known } from "../../ui/known.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Strange } from "../../ui/strange.tsx";
import type { Desk } from "./use-desk.ts";

type Props = { readonly desk: Pick<Desk, "approval" | "card"> };

function Risk({ risk }: { readonly risk: NonNullable<Desk["card"]["risk"]> }) {
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

function reasonOf({ about, reason, rule }: Desk["approval"]): string {
  if (reason !== "" || about !== "action") return reason;
  return rule === UNNAMED ? "No rule is named: this tool asks a person each time." : "";
}

export function WhyAsked({ desk: { approval, card } }: Props) {
  const { rule, policy, about } = approval;
  const reason = reasonOf(approval);
  const isPolicy = about === "action";
  // The words of a question stand above the answer.
  if (about === "question") return null;
  const policyName =
    card.policy_name === null ? <Known id={policy} isShort /> : <Strange text={card.policy_name} />;
  return (
    <Panel title="Why it is asked">
      <Facts
        facts={[
          reason === "" ? null : { name: "Reason", value: <Strange text={reason} as="lines" /> },
          isPolicy ? { name: "Policy", value: policyName } : null,
          isPolicy && rule !== "" && rule !== UNNAMED
            ? { name: "Rule", value: <Strange text={rule} className="font-mono" /> }
            : null,
          card.risk === null ? null : { name: "Risk", value: <Risk risk={card.risk} /> },
        ]}
      />
    </Panel>
  );
}
