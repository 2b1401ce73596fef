/** Where one is logged in, and the ending of that. */
import { queryOptions, useQuery } from "@tanstack/react-query";
import type { AnswerOf } from "holdpoint/client";
import { client } from "../api/client.ts";
import { goToLogin } from "../api/leaving.ts";
import { useSession } from "../api/session.ts";
import { useDeed } from "../api/use-deed.ts";
import { momentText } from "../format/times.ts";
import { Asked } from "./asked.tsx";
import { Badge } from "./badge.tsx";
import { Button } from "./button.tsx";
import { Panel } from "./panel.tsx";
import { Failure } from "./states.tsx";
import { toast } from "./toaster.tsx";
import { When } from "./when.tsx";

type Own = AnswerOf<"GET /api/sessions">["sessions"][number];

const sessionsQuery = queryOptions({
  queryKey: ["people", "own-sessions"],
  queryFn: async () => (await client.session.list()).sessions,
});

function SessionRow({ of }: { readonly of: Own }) {
  const deed = useDeed({
    does: () => client.session.endOne(of.session_id),
    touches: "people",
    onDone: () => (of.is_this ? goToLogin() : toast("That session is ended.")),
  });
  return (
    <li className="flex flex-wrap items-center gap-x-6 gap-y-1 px-4 py-2.5 text-small sm:px-5">
      <p className="min-w-0 grow">
        <span className="font-semibold">Logged in {momentText(of.begun_at)}</span>{" "}
        {of.is_this ? <Badge status="this one" tone="go" /> : null}
        <span className="block text-soft">
          ends by itself <When at={of.expires_at} />
        </span>
      </p>
      <Button size="small" isBusy={deed.isBusy} onClick={() => deed.run(undefined)}>
        {of.is_this ? "Log out" : "End it"}
      </Button>
      {deed.error === undefined ? null : <Failure error={deed.error} />}
    </li>
  );
}

function EndAll() {
  const deed = useDeed({ does: () => client.session.endAll(), onDone: goToLogin });
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Button size="small" isBusy={deed.isBusy} onClick={() => deed.run(undefined)}>
        End all, this one too
      </Button>
      {deed.error === undefined ? null : <Failure error={deed.error} />}
    </div>
  );
}

export function OwnSessions() {
  const { isOpen, via } = useSession();
  const sessions = useQuery({ ...sessionsQuery, enabled: !isOpen });
  if (isOpen)
    return (
      <Panel title="Your sessions">
        <p className="text-small text-soft">
          This server authenticates nobody, so nobody is logged in. Whoever reaches it can do everything.
        </p>
      </Panel>
    );
  return (
    <Panel isFlush title="Your sessions" aside={via === "session" ? <EndAll /> : undefined}>
      <Asked query={sessions} lines={2}>
        {(all) => (
          <ul className="divide-y divide-line">
            {all.map((one) => (
              <SessionRow key={one.session_id} of={one} />
            ))}
          </ul>
        )}
      </Asked>
    </Panel>
  );
}
