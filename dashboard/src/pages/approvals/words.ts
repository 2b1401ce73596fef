/** What stands of an approval, in plain words. */
import type { Approval, Card, Summary } from "../../api/approvals.ts";
import { several } from "../../format/amounts.ts";

type Standing = Pick<Approval, "status" | "about" | "edited">;

/** What has been used, or is used up in the commit that decides it: the decision says more. */
export function statusWord({ status, about, edited }: Standing): string {
  if (status !== "consumed") return status;
  if (about === "question") return "answered";
  return edited ? "modified" : "approved";
}

const KINDS: { readonly [about in Summary["about"]]: string } = {
  action: "Action",
  checkpoint: "Checkpoint",
  question: "Question",
  intent: "Request",
};
/** An action goes by its title; of anything else the heading says more. */
export const headText = (
  { about }: Pick<Approval, "about">,
  card: Pick<Card, "title" | "heading">,
): string => (about === "action" ? card.title : card.heading);

export const kindWord = (about: Summary["about"]): string => KINDS[about];

export const RISK_TONES = { low: "go", medium: "hold", high: "stop", critical: "stop" } as const;

/** Without the kind that every principal's name begins with. */
export const personName = (principal: string): string => principal.replace(/^(person|agent|service):/, "");
export const namesText = (principals: readonly string[]): string => principals.map(personName).join(", ");

const isOne = ({ by }: { readonly by: readonly string[] }): boolean => by.length > 0;

/** What follows where it is not approved. */
const REJECTED: { readonly [about in Approval["about"]]: string } = {
  action: "It does not run.",
  checkpoint: "Its workflow goes back, or fails where it cannot.",
  question: "Its workflow is told that there is no answer.",
  intent: "Whoever sent it is told so.",
};
const notDone = (about: Approval["about"]): string =>
  about === "action" || about === "intent" ? REJECTED[about] : "Its workflow is told so.";

/** What became of it, in a sentence. Names in it are strangers' text. */
export function endWords(approval: Approval): string {
  const { status, decided, ended, about } = approval;
  const by = decided !== null && isOne(decided) ? ` by ${namesText(decided.by)}` : "";
  switch (status) {
    case "pending":
      return "It waits.";
    case "rejected":
      return `Rejected${by}. ${REJECTED[about]}`;
    case "expired":
      return `Its time is over and nobody decided. ${notDone(about)}`;
    case "cancelled":
      return `The question was taken back${ended !== null && isOne(ended) ? ` by ${namesText(ended.by)}` : ""}. ${notDone(about)}`;
    case "superseded":
      return "The edit falls under another rule: another approval asks instead.";
    case "revoked":
      return `The decision was taken back${ended !== null && isOne(ended) ? ` by ${namesText(ended.by)}` : ""} before it was used.`;
    case "lapsed":
      return `Approved${by}, and not used: what was approved no longer holds.`;
    case "modified":
      return `Approved with changes${by}.`;
    case "consumed":
      if (about === "action")
        return `${approval.edited ? "Approved with changes" : "Approved"}${by}, and used.`;
      return `${capital(statusWord(approval))}${by}.`;
    default:
      return `${capital(statusWord(approval))}${by}.`;
  }
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);
export const sentence = (text: string): string => `${capital(text)}.`;

export function votesText({
  votes,
  quorum,
  stage,
  stages,
}: Pick<Summary, "votes" | "quorum" | "stage" | "stages">): string {
  const count = quorum === 1 ? "" : `${votes} of ${quorum}`;
  const place = stages === 1 ? "" : `stage ${stage} of ${stages}`;
  return [count, place].filter((text) => text !== "").join(", ");
}

/** Who has to agree, in a sentence. */
export function needsText({ quorum, from }: Approval["approvers"]): string {
  const who = from === null ? "" : ` of ${from.map(approverName).join(", ")}`;
  return `${several(quorum, "person", "people")}${who}`;
}

export const approverName = (name: string): string =>
  name.replace(/^person:/, "").replace(/^(role|group):/, "$1 ");

/** Without a veto one rejection need not end it. Null where it does; unknown where nobody is authenticated. */
export function notOverWords(ends: boolean | null): string | null {
  if (ends === true) return null;
  return ends === false
    ? "Your rejection counts, and does not end it: others can still agree to it."
    : "A rejection ends it only where too few are left who could still agree to it.";
}

export const OLDER_SERVER =
  "This server is older than the page: why it is asked, what it costs and who decides are in `holdpoint show`.";

/** Sections with texts, in the order of `parts`; null if the server is older and sends none. */
export function selectSections(
  { sections }: Partial<Pick<Card, "sections">>,
  parts: readonly string[],
): Card["sections"] | null {
  if (sections === undefined) return null;
  const shown = parts.flatMap((part) => sections.filter((one) => one.part === part));
  return shown.filter(({ fields }) => fields.length > 0);
}
