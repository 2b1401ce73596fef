/** Who has to agree, in which order, and who has said what. */
import type { Approval, Card } from "../../api/approvals.ts";
import { Badge } from "../../ui/badge.tsx";
import { classes } from "../../ui/classes.ts";
import { Icon, type IconName } from "../../ui/icon.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Strange } from "../../ui/strange.tsx";
import { TEXT, type Tone } from "../../ui/tone.ts";
import { When } from "../../ui/when.tsx";
import { needsText, personName, statusWord } from "./words.ts";

type Stage = Approval["stages"][number];
type Voter = Card["voters"][number];
type Vote = Approval["votes"][number];

const STAGES: { readonly [state in Stage["state"]]?: readonly [IconName, Tone, string] } = {
  asked: ["clock", "hold", "asked now"],
  met: ["check", "go", "agreed"],
  later: ["more", "plain", "asked later"],
  handed_over: ["next", "note", "handed on"],
  ended: ["cross", "stop", "ended here"],
  not_asked: ["more", "plain", "not asked"],
};

function Stepper({ stages }: { readonly stages: readonly Stage[] }) {
  if (stages.length < 2) return null;
  return (
    <ol className="flex flex-col gap-0">
      {stages.map(({ stage, state, approvers }, at) => {
        const [icon, tone, word] = STAGES[state] ?? ["more", "plain", state];
        return (
          <li key={stage} className="relative flex gap-3 pb-3 last:pb-0">
            {at === stages.length - 1 ? null : (
              <span aria-hidden="true" className="absolute top-6 bottom-0 left-3 w-px bg-line" />
            )}
            <span
              className={classes(
                "flex size-6 shrink-0 items-center justify-center rounded-full bg-sunken",
                TEXT[tone],
              )}
            >
              <Icon name={icon} className="size-3.5" />
            </span>
            <span className="min-w-0 text-small">
              <span className="font-semibold">Stage {stage}</span> <span className={TEXT[tone]}>{word}</span>
              <span className="block text-soft">
                <Strange text={needsText(approvers)} />
              </span>
            </span>
          </li>
        );
      })}
    </ol>
  );
}

const VOTERS: { readonly [state in Voter["state"]]: readonly [IconName, Tone, string] } = {
  approved: ["check", "go", "approved"],
  rejected: ["cross", "stop", "rejected"],
  asked: ["clock", "plain", "asked"],
};

type VoterProps = {
  readonly voter: Voter;
  readonly vote: Vote | undefined;
  readonly told: string | undefined;
};

/** `told`: the reason that stands with what became of it. */
function VoterRow({ voter, vote, told }: VoterProps) {
  const [icon, tone, word] = VOTERS[voter.state];
  return (
    <li className="flex items-start gap-2 text-small">
      <Icon name={icon} className={classes("mt-0.5 size-4", TEXT[tone])} />
      <span className="min-w-0 grow">
        <Strange text={personName(voter.person)} className="font-semibold" />{" "}
        <span className={TEXT[tone]}>{word}</span>
        {vote === undefined ? null : (
          <>
            {" "}
            <When at={vote.at} className="text-faint" />
            {vote.note === null || vote.note === "" || vote.note === told ? null : (
              <span className="block text-soft">
                <Strange text={vote.note} as="lines" />
              </span>
            )}
          </>
        )}
      </span>
    </li>
  );
}

const MOST_DOTS = 10;
const dotsOf = (quorum: number) => Array.from({ length: Math.min(quorum, MOST_DOTS) }, (_, at) => at + 1);

function Tally({ approval, voters }: { readonly approval: Approval; readonly voters: readonly Voter[] }) {
  const { quorum } = approval.approvers;
  const given = voters.filter(({ state, stage }) => state === "approved" && stage === approval.stage).length;
  if (quorum < 2) return null;
  return (
    <p className="flex items-center gap-2 text-small">
      <span aria-hidden="true" className="flex gap-1">
        {dotsOf(quorum).map((dot) => (
          <span
            key={dot}
            className={classes("size-2.5 rounded-full", dot <= given ? "bg-go" : "border border-edge")}
          />
        ))}
      </span>
      <span className="font-semibold">
        {given} of {quorum} have agreed
      </span>
    </p>
  );
}

function Handed({ approval }: { readonly approval: Approval }) {
  return approval.delegations.map(({ by, to, reason }) => (
    <p key={`${by} ${to}`} className="text-small text-soft">
      <Strange text={personName(to)} className="font-semibold text-ink" /> decides for{" "}
      <Strange text={personName(by)} className="font-semibold text-ink" />:{" "}
      <Strange text={reason} as="lines" />
    </p>
  ));
}

export function WhoDecides({ approval, card }: { readonly approval: Approval; readonly card: Card }) {
  const { approvers } = approval;
  const voteOf = ({ person, stage }: Voter) =>
    approval.votes.find(({ by, stage: of = 1 }) => by === person && of === stage);
  return (
    <Panel
      title="Who decides"
      aside={approval.status === "pending" ? undefined : <Badge status={statusWord(approval)} />}
    >
      <div className="flex flex-col gap-3">
        <Tally approval={approval} voters={card.voters} />
        <Stepper stages={approval.stages} />
        {approval.stages.length > 1 ? null : (
          <p className="text-small text-soft">
            <Strange text={needsText(approvers)} />
            {approvers.veto ? "; one rejection ends it" : "; one rejection alone does not end it"}.
          </p>
        )}
        {card.voters.length === 0 ? null : (
          <ul className="flex flex-col gap-2">
            {card.voters.map((voter) => (
              <VoterRow
                key={`${voter.person} ${voter.stage}`}
                voter={voter}
                vote={voteOf(voter)}
                told={approval.decided?.reason}
              />
            ))}
          </ul>
        )}
        <Handed approval={approval} />
      </div>
    </Panel>
  );
}
