/** Every use of a standing grant. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { moneyText } from "../../format/amounts.ts";
import { Asked } from "../../ui/asked.tsx";
import { Badge } from "../../ui/badge.tsx";
import { When } from "../../ui/when.tsx";
import { grantQuery } from "./policy-queries.ts";

export function GrantUses({ id }: { readonly id: string }) {
  return (
    <Asked query={useQuery(grantQuery(id))} lines={2}>
      {({ used_by }) =>
        used_by.length === 0 ? (
          <p className="text-small text-soft">Nobody has used it.</p>
        ) : (
          <ol className="max-h-72 divide-y divide-line overflow-y-auto rounded-base border border-line">
            {used_by.toReversed().map(({ at, action_id, effect_id, amount, returned }) => (
              <li key={effect_id}>
                <Link
                  to="/actions/$id"
                  params={{ id: action_id }}
                  className="flex min-h-9 flex-wrap items-center gap-x-4 px-3 py-1 text-small hover:bg-sunken"
                >
                  <code className="min-w-0 grow truncate font-mono">{action_id}</code>
                  {returned ? <Badge status="given back" /> : null}
                  {amount === null ? null : <span className="figures">{moneyText(amount)}</span>}
                  <When at={at} className="w-20 text-right text-faint" />
                </Link>
              </li>
            ))}
          </ol>
        )
      }
    </Asked>
  );
}
