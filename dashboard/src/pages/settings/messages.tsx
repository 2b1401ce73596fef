/** What was, is and will be sent, and the sending again of what was given up. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { client } from "../../api/client.ts";
import { byOf, may, useSession } from "../../api/session.ts";
import { useDeed } from "../../api/use-deed.ts";
import { several } from "../../format/amounts.ts";
import { Asked } from "../../ui/asked.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { MoreRows } from "../../ui/more-rows.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Segments } from "../../ui/segments.tsx";
import { Empty, Failure } from "../../ui/states.tsx";
import { Strange } from "../../ui/strange.tsx";
import { toast } from "../../ui/toaster.tsx";
import type { Tone } from "../../ui/tone.ts";
import { When } from "../../ui/when.tsx";
import { endpointsQuery, type Message, type MessageStatus, messagesQuery } from "./message-queries.ts";

const STATUSES: readonly { readonly id: MessageStatus; readonly title: string }[] = [
  { id: "any", title: "All" },
  { id: "waiting", title: "Waiting" },
  { id: "dead", title: "Given up" },
];
const WORDS: { readonly [status in Message["status"]]: readonly [string, Tone] } = {
  waiting: ["waiting", "hold"],
  delivered: ["arrived", "go"],
  dead: ["given up", "stop"],
  dropped: ["dropped", "plain"],
};

function Retry({ of }: { readonly of: Message }) {
  const session = useSession();
  const deed = useDeed({
    does: () => client.messages.retry(of.message_id, byOf(session)),
    touches: "endpoints",
    onDone: () => toast("It is sent again."),
  });
  if (of.status !== "dead" || !may(session, "endpoints:write")) return null;
  return (
    <>
      <Button size="small" icon="undo" isBusy={deed.isBusy} onClick={() => deed.run(undefined)}>
        Send again
      </Button>
      {deed.error === undefined ? null : <Failure error={deed.error} />}
    </>
  );
}

function Trouble({ of: { attempts, last, reason, due_at } }: { readonly of: Message }) {
  const problem = reason ?? last?.problem ?? null;
  return (
    <p className="text-small text-soft">
      {several(attempts, "attempt")}
      {last?.status == null ? "" : `, last answered ${last.status}`}
      {problem === null ? null : (
        <>
          {": "}
          <Strange text={problem} />
        </>
      )}
      {due_at === null ? null : (
        <>
          {", due "}
          <When at={due_at} />
        </>
      )}
    </p>
  );
}

function MessageRow({ of, where }: { readonly of: Message; readonly where: string }) {
  const [words, tone] = WORDS[of.status];
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2.5 sm:px-5">
      <div className="min-w-0 grow">
        <p className="flex flex-wrap items-center gap-2 text-small">
          <Badge status={words} tone={tone} />
          <code className="font-mono font-semibold">
            <Strange text={of.type} />
          </code>
          <span className="text-soft">
            to <Strange text={of.to ?? where} />
          </span>
        </p>
        <Trouble of={of} />
      </div>
      <When at={of.made_at} className="text-small text-faint" />
      <Retry of={of} />
    </li>
  );
}

export function Messages() {
  const [status, setStatus] = useState<MessageStatus>("any");
  const list = useInfiniteQuery(messagesQuery(status));
  const endpoints = useQuery(endpointsQuery).data ?? [];
  const whereIs = (id: string) => endpoints.find(({ endpoint_id }) => endpoint_id === id)?.name ?? id;
  return (
    <Panel
      isFlush
      title="Messages"
      aside={<Segments label="Which messages" value={status} options={STATUSES} onChange={setStatus} />}
    >
      <Asked query={list}>
        {({ pages }) => {
          const messages = pages.flatMap((page) => page.messages);
          if (messages.length === 0)
            return (
              <Empty icon="comment" title={status === "dead" ? "None was given up" : "There are none"} />
            );
          return (
            <ul className="divide-y divide-line">
              {messages.map((message) => (
                <MessageRow key={message.message_id} of={message} where={whereIs(message.endpoint_id)} />
              ))}
            </ul>
          );
        }}
      </Asked>
      <MoreRows list={list} />
    </Panel>
  );
}
