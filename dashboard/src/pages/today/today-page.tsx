/** The main page: what wants somebody now, and what the last hours brought. */
import { useQuery } from "@tanstack/react-query";
import type { AnswerOf } from "holdpoint/client";
import { attentionQuery } from "../../api/attention.ts";
import { nameOf, useSession } from "../../api/session.ts";
import { countText, several } from "../../format/amounts.ts";
import { Page } from "../../ui/page.tsx";
import { Failure, Loading } from "../../ui/states.tsx";
import { When } from "../../ui/when.tsx";
import { FirstRun } from "../approvals/first-run.tsx";
import { Lately } from "./lately.tsx";
import { Signs } from "./signs.tsx";
import { WaitsForYou } from "./waits-for-you.tsx";

type LeadProps = { readonly attention: AnswerOf<"GET /api/attention"> };

function Lead({ attention }: LeadProps) {
  const { mine, is_all: isAll, looked_at: lookedAt, next_deadline: next } = attention;
  if (mine === 0)
    return isAll ? (
      <>Nothing waits for you.</>
    ) : (
      <>None of the {countText(lookedAt)} approvals that wait longest is for you.</>
    );
  return (
    <>
      {isAll ? "" : "At least "}
      {several(mine, "approval waits", "approvals wait")} for you
      {next === null ? (
        "."
      ) : (
        <>
          ; the first {isAll ? "" : "of these "}runs out <When at={next} />.
        </>
      )}
    </>
  );
}

export function TodayPage() {
  const { principal } = useSession();
  const { data, error, refetch } = useQuery(attentionQuery);
  if (data === undefined)
    return (
      <Page title="Today">
        {error === null ? <Loading /> : <Failure error={error} onRetry={() => void refetch()} />}
      </Page>
    );
  const name = nameOf(principal);
  return (
    <Page
      title={name === "somebody" ? "Today" : `Today, ${name}`}
      lead={data.is_empty ? undefined : <Lead attention={data} />}
    >
      <Signs attention={data} />
      {data.is_empty ? (
        <FirstRun />
      ) : (
        <>
          <WaitsForYou attention={data} />
          <Lately />
        </>
      )}
    </Page>
  );
}
