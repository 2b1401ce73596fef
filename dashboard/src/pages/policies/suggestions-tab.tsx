/** What people decide alike over and over, and what could be said once instead. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { several } from "../../format/amounts.ts";
import { Asked } from "../../ui/asked.tsx";
import { Choice } from "../../ui/field.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Empty } from "../../ui/states.tsx";
import { suggestionsQuery } from "./policy-queries.ts";
import { SuggestionCard } from "./suggestion-card.tsx";

const LEAST = [5, 10, 20, 50, 100];
const USUAL = 20;

function leastOf(named: string | undefined): number {
  const count = Number(named);
  return LEAST.includes(count) ? count : USUAL;
}

function Nothing({ asked, min }: { readonly asked: number; readonly min: number }) {
  return (
    <Panel>
      <Empty icon="policy" title="Nothing to suggest">
        {asked === 0
          ? "People were not asked about anything yet."
          : `People were asked ${several(asked, "time")}. Nothing of it was approved ${min} times, without a change or a rejection in between.`}
      </Empty>
    </Panel>
  );
}

export function SuggestionsTab() {
  const navigate = useNavigate();
  const min = leastOf(useSearch({ from: "/policies" })["min"]);
  const query = useQuery(suggestionsQuery(min));
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-end justify-between gap-3">
        <p className="max-w-prose text-small text-soft">
          Drawn from what people decided, and tried on everything that was recorded. Nothing is changed until
          you paste a rule into a policy file or give a grant.
        </p>
        <Choice
          label="Approved at least"
          value={min}
          onChange={(event) =>
            void navigate({ to: "/policies", search: { tab: "suggestions", min: event.target.value } })
          }
        >
          {LEAST.map((count) => (
            <option key={count} value={count}>
              {count} times
            </option>
          ))}
        </Choice>
      </div>
      <Asked query={query}>
        {({ suggestions, asked }) =>
          suggestions.length === 0 ? (
            <Nothing asked={asked} min={min} />
          ) : (
            suggestions.map((suggestion) => (
              <SuggestionCard key={suggestion.as_rule.rule.id} suggestion={suggestion} />
            ))
          )
        }
      </Asked>
    </div>
  );
}
