/** When the tenant was stopped and released: the latest times, newest first. */
import { queryOptions, useQuery } from "@tanstack/react-query";
import { type AnswerOf, isClientError } from "holdpoint/client";
import { useState } from "react";
import { client } from "../../api/client.ts";
import { may, nameOf, useSession } from "../../api/session.ts";
import { fieldsOf } from "../../format/fields-of.ts";
import { momentText } from "../../format/times.ts";
import { Asked } from "../../ui/asked.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Strange } from "../../ui/strange.tsx";

type Entry = AnswerOf<"GET /api/journal/{kind}/{id}">["entries"][number];

const MOST = 200;

const PAGE = 1_000;

/** The latest; a stream is read from its beginning. A switch that was never turned has none. */
async function turns(): Promise<readonly Entry[]> {
  let latest: readonly Entry[] = [];
  try {
    for (let from: number | null = 1; from !== null; ) {
      const page = await client.journal.stream("switch", "tenant", { from_seq: from, limit: PAGE });
      latest = [...latest, ...page.entries].slice(-MOST);
      from = page.next_seq;
    }
    return latest;
  } catch (error) {
    if (isClientError(error, "unknown_id")) return [];
    throw error;
  }
}

const historyQuery = queryOptions({ queryKey: ["switch", "history"], queryFn: turns });

function saidIn({ body }: Entry): { readonly by: string; readonly reason: string } {
  const fields = fieldsOf(body);
  return { by: String(fields["by"] ?? ""), reason: String(fields["reason"] ?? "") };
}

function Turn({ entry }: { readonly entry: Entry }) {
  const { by, reason } = saidIn(entry);
  const isStop = entry.type === "switch.stopped";
  return (
    <li className="grid gap-x-4 px-4 py-2 text-small sm:grid-cols-[6rem_11rem_minmax(0,1fr)] sm:px-5">
      <span>
        <Badge status={isStop ? "stopped" : "released"} tone={isStop ? "stop" : "go"} />
      </span>
      <span className="text-soft">{momentText(entry.at)}</span>
      <span>
        <Strange text={nameOf(by)} className="font-semibold" />: <Strange isProse text={reason} />
      </span>
    </li>
  );
}

function Turns() {
  return (
    <Asked query={useQuery(historyQuery)} lines={2}>
      {(entries) =>
        entries.length === 0 ? (
          <p className="p-4 text-small text-soft sm:px-5">It was never turned.</p>
        ) : (
          <ol className="divide-y divide-line">
            {entries.toReversed().map((entry) => (
              <Turn key={entry.seq} entry={entry} />
            ))}
          </ol>
        )
      }
    </Asked>
  );
}

export function SwitchHistory() {
  const [isOpen, setOpen] = useState(false);
  if (!may(useSession(), "journal:read")) return null;
  if (!isOpen)
    return (
      <div>
        <Button size="small" kind="quiet" icon="clock" onClick={() => setOpen(true)}>
          When it was stopped and released before
        </Button>
      </div>
    );
  return (
    <Panel isFlush title="Stopped and released before">
      <Turns />
    </Panel>
  );
}
