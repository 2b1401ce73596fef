/** Who, for whom, for how much, and what was decided last. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { client } from "../../api/client.ts";
import { may, useSession } from "../../api/session.ts";
import type { Workflow } from "../../api/workflows.ts";
import { moneyText } from "../../format/amounts.ts";
import { Badge } from "../../ui/badge.tsx";
import { type Fact, Facts } from "../../ui/facts.tsx";
import { Principals } from "../../ui/principals.tsx";
import { ShareBar } from "../../ui/share-bar.tsx";
import { Strange } from "../../ui/strange.tsx";
import { When } from "../../ui/when.tsx";
import { parentOf, partiesOf, shareOf } from "./workflow-parts.ts";

function Budget({ name }: { readonly name: string }) {
  const session = useSession();
  const { data } = useQuery({
    queryKey: ["budgets", name],
    queryFn: () => client.budgets.get(name),
    enabled: may(session, "budgets:read"),
  });
  if (data === undefined) return <Strange text={name} />;
  const { currency, micros } = data.limit;
  return (
    <span className="flex flex-wrap items-center gap-x-3">
      <Strange text={name} className="font-semibold" />
      <span className="figures">
        {moneyText({ currency, micros: data.spent_micros })} of {moneyText({ currency, micros })}
      </span>
      <ShareBar share={shareOf(data.spent_micros, micros)} tone="note" className="w-24" />
    </span>
  );
}

function LastDecision({ decision }: { readonly decision: NonNullable<Workflow["last_decision"]> }) {
  return (
    <span>
      <Badge status={decision.decision.toLowerCase()} /> at <Strange text={decision.checkpoint} />
      {decision.by.length === 0 ? null : (
        <>
          {" "}
          by <Principals of={decision.by} />
        </>
      )}
      , <When at={decision.at} />
      {decision.reason === "" ? null : (
        <>
          : <Strange isProse text={decision.reason} className="text-soft" />
        </>
      )}
    </span>
  );
}

const person = (name: string, principal: string | null): Fact | null =>
  principal === null ? null : { name, value: <Principals of={[principal]} /> };

const maybe = <Given,>(name: string, given: Given | null, value: (given: Given) => ReactNode): Fact | null =>
  given === null ? null : { name, value: value(given) };

export function WorkflowFacts({ workflow }: { readonly workflow: Workflow }) {
  const { poster, executor, supervisor } = partiesOf(workflow.parties);
  return (
    <Facts
      facts={[
        { name: "Agent", value: <AgentLink agent={workflow.agent} isOutside={workflow.is_outside} /> },
        person("Posted by", poster),
        executor === workflow.agent ? null : person("Executed by", executor),
        person("Watched by", supervisor),
        maybe("Budget", workflow.budget, (name) => <Budget name={name} />),
        maybe(
          "Escrow",
          workflow.escrow,
          (escrow) => `${moneyText(escrow)}, recorded only: nothing is locked`,
        ),
        maybe("Last decision", workflow.last_decision, (decision) => <LastDecision decision={decision} />),
        maybe("Part of", parentOf(workflow.parent), (id) => (
          <Link to="/workflows/$id" params={{ id }} className="font-mono underline underline-offset-3">
            {id}
          </Link>
        )),
        maybe("Definition", workflow.version, (version) => (
          <>
            version <Strange text={version} />
          </>
        )),
      ]}
    />
  );
}

function AgentLink({ agent, isOutside }: { readonly agent: string; readonly isOutside: boolean }) {
  return (
    <span>
      <Link to="/workflows" search={{ agent }} className="underline underline-offset-3">
        <Principals of={[agent]} />
      </Link>
      {isOutside ? ", which drives it from outside" : null}
    </span>
  );
}
