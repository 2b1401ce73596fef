/** It has changed since somebody looked: what, and the button that says that they have seen it. */
import type { Approval } from "../../api/approvals.ts";
import { changesBetween } from "../../format/edits.ts";
import { jsonOf } from "../../format/json.ts";
import { Button } from "../../ui/button.tsx";
import { Icon } from "../../ui/icon.tsx";
import { ChangesList } from "./changes-list.tsx";
import type { Desk } from "./use-desk.ts";
import { needsText } from "./words.ts";

/** All that a binding covers and people can see. */
function comparedFields({ args, preview, decide_by, execute_by, approvers, policy, stage }: Approval) {
  return jsonOf({
    arguments: args,
    "what the tool shows": preview ?? null,
    "to be decided by": decide_by ?? "no deadline",
    "to be started by": execute_by ?? "no deadline",
    "who decides": needsText(approvers),
    stage,
    policy,
  });
}

export function ChangedNotice({ desk: { approval, seen } }: { readonly desk: Desk }) {
  if (!seen.isChanged) return null;
  const changes = changesBetween(comparedFields(seen.before), comparedFields(approval));
  return (
    <section role="alert" className="flex flex-col gap-3 rounded-large border-2 border-hold bg-hold-wash p-4">
      <h2 className="flex items-center gap-2 font-semibold text-hold">
        <Icon name="warn" /> This has changed since you looked
      </h2>
      {changes.length === 0 ? (
        <p className="text-small">It is asked anew, with nothing different that is shown here.</p>
      ) : (
        <ChangesList changes={changes} />
      )}
      <Button kind="main" className="self-start" onClick={() => seen.accept(approval)}>
        I have seen it
      </Button>
    </section>
  );
}
