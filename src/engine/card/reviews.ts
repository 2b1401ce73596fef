/** What policy said of what one approval asks: of it as people were asked first, and of it as each of them changed it. */
import type { ActionEventOf, ReviewFacts } from "../../core/action/events.ts";
import type { LiveApproval } from "../../core/approval/state.ts";
import { actionStream } from "../../core/stream.ts";
import type { Runtime } from "../runtime.ts";
import { policyNameOf } from "./policy-name.ts";

type Place = Pick<Runtime, "store" | "tenant">;

export type CardReview = ReviewFacts & {
  readonly at: number;
  /** Who had changed what was reviewed; null where nobody had since it was proposed. */
  readonly editedBy: string | null;
  /** Null where only code was asked, or what its documents are called is not known. */
  readonly policyName: string | null;
};

type Found = Omit<CardReview, "policyName"> & { readonly argsDigest: string };

const PAGE = 100;

type Told = { readonly type: string; readonly at: number; readonly body: object };

/** Nothing is reviewed any more once it was started. What was erased says nothing. */
async function* untilStarted({ store, tenant }: Place, action: string): AsyncGenerator<Told> {
  for (let fromSeq = 1; ; fromSeq += PAGE) {
    const page = await store.read(tenant, actionStream(action), { fromSeq, limit: PAGE });
    for (const { header, body } of page) {
      const { type, at } = JSON.parse(header) as Told;
      if (type === "effect.started") return;
      if (body !== null) yield { type, at, body: JSON.parse(body) as object };
    }
    if (page.length < PAGE) return;
  }
}

async function allOf(place: Place, action: string, id: string): Promise<readonly Found[]> {
  const found: Found[] = [];
  let argsDigest = "";
  let editedBy: string | null = null;
  for await (const { type, at, body } of untilStarted(place, action)) {
    if (type === "action.proposed") ({ argsDigest } = body as ActionEventOf<"action.proposed">["body"]);
    if (type === "action.revised") {
      const { by, argsDigest: to } = body as ActionEventOf<"action.revised">["body"];
      argsDigest = to;
      if (by !== "policy") editedBy = by;
    }
    if (type !== "action.reviewed") continue;
    const { approval, ...review } = body as ActionEventOf<"action.reviewed">["body"];
    if (approval === id) found.push({ ...review, at, editedBy, argsDigest });
  }
  return found;
}

/** Oldest first, up to the one of what the approval asks now: an edit that came in since is not among them. */
export async function reviewsOf(
  place: Place,
  id: string,
  { action, argsDigest }: LiveApproval,
): Promise<readonly CardReview[]> {
  const all = await allOf(place, action, id);
  const last = all.findLastIndex((one) => one.argsDigest === argsDigest);
  return Promise.all(
    all.slice(0, last + 1).map(async ({ argsDigest: _, ...review }) => ({
      ...review,
      policyName: await policyNameOf(place, review),
    })),
  );
}
