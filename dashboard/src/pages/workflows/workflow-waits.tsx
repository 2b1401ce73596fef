/** What keeps it from going on, as it stands now. */
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Workflow } from "../../api/workflows.ts";
import { Icon } from "../../ui/icon.tsx";
import { Strange } from "../../ui/strange.tsx";
import { When } from "../../ui/when.tsx";
import { heldWords } from "./waits-for.ts";

type Wait = Workflow["waits"][number];

const LINK = "font-semibold underline underline-offset-3";

function approval(id: string, words: string): ReactNode {
  return (
    <Link to="/approvals/$id" params={{ id }} className={LINK}>
      {words}
    </Link>
  );
}

function held(stream: string): ReactNode {
  const { words, name } = heldWords(stream);
  return (
    <>
      {words} <Strange text={name} />
    </>
  );
}

/** In doubt, it is the effect's id that is waited for; an action's page takes it too. */
const WORDS: { readonly [kind: string]: (wait: Wait) => ReactNode } = {
  approval: ({ on }) => approval(on, "people, about a call"),
  checkpoint: ({ on }) => approval(on, "people, at a checkpoint"),
  question: ({ on }) => approval(on, "an answer by people"),
  sleep: () => "a time",
  retry: () => "another try of a step",
  child: ({ on }) => (
    <Link to="/workflows/$id" params={{ id: on }} className={LINK}>
      a workflow that it began
    </Link>
  ),
  intent: () => "another agent",
  doubt: ({ on }) => (
    <Link to="/actions/$id" params={{ id: on }} className={LINK}>
      somebody to find out what became of an effect
    </Link>
  ),
  held: ({ on }) => held(on),
  definition: ({ on }) => <Strange text={on} />,
  node: () => "another node to go on with it",
};

export function WorkflowWaits({ workflow }: { readonly workflow: Workflow }) {
  const { pending, waits, wake_at: wakeAt } = workflow;
  const open = pending === null ? waits : [];
  if (pending === null && open.length === 0) return null;
  return (
    <div className="flex gap-3 rounded-base bg-hold-wash px-4 py-3 text-small text-hold">
      <Icon name="clock" />
      <ul aria-label="It waits for" className="flex min-w-0 flex-col gap-1">
        {pending === null ? null : (
          <li>
            It waits for {approval(pending.approval_id, "people to decide")} at{" "}
            <Strange text={pending.checkpoint} />.{" "}
            {pending.can_rollback
              ? "A rejection sends it back."
              : "A rejection ends it: there is no way back from here."}
          </li>
        )}
        {open.map((wait) => (
          <li key={`${wait.kind} ${wait.on} ${wait.op}`}>
            It waits for {(WORDS[wait.kind] ?? (() => wait.kind))(wait)}
            {(wait.kind === "sleep" || wait.kind === "retry") && wakeAt !== null ? (
              <>
                : <When at={wakeAt} />
              </>
            ) : null}
          </li>
        ))}
      </ul>
    </div>
  );
}
