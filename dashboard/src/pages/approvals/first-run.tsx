/** Nobody has asked for anything yet: the shortest way to a first approval. */
import { Link } from "@tanstack/react-router";
import { useSession } from "../../api/session.ts";
import { Mark } from "../../ui/mark.tsx";
import { Snippet } from "../../ui/snippet.tsx";
import { Example } from "./example.tsx";

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
