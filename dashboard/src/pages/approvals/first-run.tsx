/** Nobody has asked for anything yet: the shortest way to a first approval. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { exampleQuery, useAskExample } from "../../api/example.ts";
import { useSession } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { Mark } from "../../ui/mark.tsx";
import { Snippet } from "../../ui/snippet.tsx";
import { Failure } from "../../ui/states.tsx";

type Place = { readonly address: string; readonly isOpen: boolean };

const curlOf = ({ address, isOpen }: Place): string =>
  [
    `curl ${address}/api/actions \\`,
    ...(isOpen ? [] : ['  -H "authorization: Bearer $HOLDPOINT_KEY" \\']),
    '  -H "content-type: application/json" \\',
    `  -d '{"tool": "refund",${isOpen ? ' "agent": "first",' : ""}`,
    '       "args": {"user": "u-17", "amount_usd": 40}}\'',
  ].join("\n");

const programOf = ({ address, isOpen }: Place): string =>
  [
    'import { createClient } from "holdpoint/client";',
    "",
    "const hp = createClient({",
    `  server: "${address}",`,
    ...(isOpen ? [] : ["  credential: { key: process.env.HOLDPOINT_KEY },"]),
    "});",
    "const answer = await hp.actions.propose({",
    `  tool: "refund",${isOpen ? ' agent: "first",' : ""}`,
    '  args: { user: "u-17", amount_usd: 40 },',
    "});",
    "console.log(answer.kind); // waiting",
  ].join("\n");

function Example() {
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

export function FirstRun() {
  const { isOpen } = useSession();
  const place = { address: window.location.origin, isOpen };
  return (
    <section className="flex flex-col gap-5 rounded-large border border-line bg-surface p-5 sm:p-8">
      <div className="flex items-start gap-4">
        <Mark className="mt-1 size-10" />
        <div>
          <h2 className="text-large font-semibold">Nobody has asked for anything yet</h2>
          <p className="mt-1 max-w-prose text-soft">
            Once an agent wants to do something that a person has to agree to, it appears here by itself: what
            would run, why it is asked, and what cannot be undone.
          </p>
        </div>
      </div>
      <Example />
      {isOpen ? null : (
        <p className="text-small text-soft">
          An agent asks with a key of its own:{" "}
          <Link to="/agents" className="font-semibold text-ink underline">
            make one
          </Link>
          , and put it where the lines below read it.
        </p>
      )}
      <div className="grid gap-4 lg:grid-cols-2">
        <Snippet title="Ask from a terminal" text={curlOf(place)} />
        <Snippet title="Ask from a program" text={programOf(place)} />
      </div>
    </section>
  );
}
