/** The names under which this can be found again, for whoever needs them. */
import { Link } from "@tanstack/react-router";
import type { Approval } from "../../api/approvals.ts";
import { Facts } from "../../ui/facts.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Known } from "../../ui/known.tsx";
import { When } from "../../ui/when.tsx";

export function Identity({ approval }: { readonly approval: Approval }) {
  const { request_id, action_id, binding, args_digest, execute_by, policy } = approval;
  return (
    <details className="group rounded-large border border-line bg-surface px-4 py-2 sm:px-5">
      <summary className="flex min-h-9 cursor-pointer list-none items-center justify-between text-small font-semibold text-soft">
        Names and digests
        <Icon name="down" className="size-4 group-open:rotate-180" />
      </summary>
      <div className="pt-2 pb-2">
        <Facts
          facts={[
            { name: "Approval", value: <Known id={request_id} isShort /> },
            action_id === null
              ? null
              : {
                  name: "Action",
                  value: (
                    <Link to="/actions/$id" params={{ id: action_id }} className="font-mono underline">
                      {action_id.slice(0, 12)}…
                    </Link>
                  ),
                },
            { name: "Arguments", value: <Known id={args_digest} isShort /> },
            { name: "Binding", value: <Known id={binding} isShort /> },
            { name: "Policy", value: <Known id={policy} isShort /> },
            execute_by === null ? null : { name: "Starts by", value: <When at={execute_by} /> },
          ]}
        />
      </div>
    </details>
  );
}
