/** Approvals at a server. */
import type { AnswerOf } from "../../client/client.ts";
import { problemError } from "../../client/client-error.ts";
import type { HoldpointError } from "../../core/errors.ts";
import type { Approvals } from "../../engine/instance.ts";
import type { Approval, BatchAnswer, Decided } from "../../index.ts";
import { asHoldpointError, type Look, relayed } from "./relay.ts";
import { approvedBy, by, given, inSeconds, type Speaker } from "./speaker.ts";

type Voted = AnswerOf<"POST /api/approvals/{id}/votes">;
const decidedOf = ({ vote, status }: Voted): Decided => ({
  kind: vote.kind,
  approval: vote.request_id,
  status,
});

type Batch = AnswerOf<"POST /api/approvals/batch">["decisions"][number];
function batchAnswer({ request_id: id, ok, status, problem }: Batch): BatchAnswer {
  if (ok) return { id, ok: true, decided: { kind: "recorded", approval: id, status } as Decided };
  return { id, ok: false, error: asHoldpointError(problemError(409, problem)) as HoldpointError };
}

/** As soon as the stream stands, an empty turn: whatever is read from then on, no later change is missed. */
async function* followOf({ client }: Speaker, signal: AbortSignal): AsyncGenerator<readonly string[]> {
  const opened = Promise.withResolvers<void>();
  const over = new AbortController();
  const stop = AbortSignal.any([signal, over.signal]);
  const events = client.events({ streams: ["approval"], onOpen: () => opened.resolve() }, stop);
  try {
    let next = events.next();
    await Promise.race([opened.promise, next]);
    yield [];
    for (let event = await next; event.done !== true; event = await next) {
      next = events.next();
      yield [event.value.stream.replace(/^approval\//, "")];
    }
  } catch (error) {
    throw asHoldpointError(error);
  } finally {
    over.abort();
  }
}

export function remoteApprovals(speaker: Speaker, look: Look): Approvals {
  const { approvals } = speaker.client;
  return {
    list: (page = {}) => look("approvals.list", page),
    count: (status) => look("approvals.count", status),
    // A server of before knows no comments.
    get: async (id) => {
      const approval = await look<Approval>("approvals.get", id);
      return "comments" in approval ? approval : { ...(approval as Approval), comments: [] };
    },
    find: (beginning) => look("approvals.find", beginning),
    follow: (signal) => followOf(speaker, signal),
    approve: (id, { by: who, note, binding, edit, shown }) =>
      relayed(async () => {
        const said = { ...given({ note, binding, edit, shown }), ...approvedBy(speaker, who) };
        return decidedOf(await approvals.vote(id, { decision: "approve", ...said }));
      }),
    reject: (id, { by: who, reason, binding, final, shown }) =>
      relayed(async () => {
        const said = { reason, ...given({ binding, final, shown }), ...approvedBy(speaker, who) };
        return decidedOf(await approvals.vote(id, { decision: "reject", ...said }));
      }),
    comment: (id, { by: who, text }) =>
      relayed(async () => void (await approvals.comment(id, { text, ...by(speaker, who) }))),
    cancel: (id, { by: who, reason }) =>
      relayed(async () => void (await approvals.cancel(id, { reason, ...by(speaker, who) }))),
    revoke: (id, { by: who, reason }) =>
      relayed(async () => void (await approvals.revoke(id, { reason, ...by(speaker, who) }))),
    extend: (id, { by: who, byMs, until }) =>
      relayed(async () => {
        const more = {
          ...(byMs === undefined ? {} : { by_seconds: inSeconds(byMs) }),
          ...(until === undefined ? {} : { until: new Date(until).toISOString() }),
        };
        const { decide_by } = await approvals.extend(id, { ...more, ...by(speaker, who) });
        return { decideBy: Date.parse(decide_by ?? "") };
      }),
    delegate: (id, { by: who, to, reason }) =>
      relayed(async () => void (await approvals.delegate(id, { to, reason, ...by(speaker, who) }))),
    takeBack: (id, { by: who, reason }) =>
      relayed(async () => void (await approvals.takeBack(id, { reason, ...by(speaker, who) }))),
    decideAll: (items, { by: who }) =>
      relayed(async () => {
        const decisions = items.map(({ id, binding, decision, note, edit, shown }) => ({
          ...{ request_id: id, binding, decision },
          ...given({ note, edit, shown }),
        }));
        const answer = await approvals.decideAll({ decisions, ...approvedBy(speaker, who) });
        return answer.decisions.map(batchAnswer);
      }),
  };
}
