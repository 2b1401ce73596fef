/** The server's own example, where it has one: what it asks now, or the button that has it ask. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { exampleQuery, useAskExample } from "../../api/example.ts";
import { Button } from "../../ui/button.tsx";
import { Failure } from "../../ui/states.tsx";

export function Example() {
  const { data } = useQuery(exampleQuery);
  const ask = useAskExample();
  if (data?.is_there !== true) return null;
  if (data.approval_id !== null)
    return (
      <Link
        to="/approvals/$id"
        params={{ id: data.approval_id }}
        className="inline-flex min-h-11 items-center self-start rounded-base bg-accent px-4 font-semibold text-on-accent"
      >
        Look at what the example asks
      </Link>
    );
  return (
    <div className="flex flex-col items-start gap-2">
      <Button kind="main" icon="play" isBusy={ask.isPending} onClick={() => ask.mutate()}>
        {ask.isPending ? "Asking…" : "Have the example ask something"}
      </Button>
      {ask.error === null ? null : <Failure error={ask.error} />}
    </div>
  );
}
