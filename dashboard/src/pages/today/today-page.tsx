/** The main page: what wants somebody now, and what the last hours brought. */
import { useQuery } from "@tanstack/react-query";
import { attentionQuery } from "../../api/attention.ts";
import { nameOf, useSession } from "../../api/session.ts";
import { several } from "../../format/amounts.ts";
import { Page } from "../../ui/page.tsx";
import { Failure, Loading } from "../../ui/states.tsx";
import { When } from "../../ui/when.tsx";
import { FirstRun } from "../approvals/first-run.tsx";
import { Lately } from "./lately.tsx";
import { Signs } from "./signs.tsx";
import { WaitsForYou } from "./waits-for-you.tsx";

type LeadProps = { readonly mine: number; readonly isAll: boolean; readonly next: string | null };

function Lead({ mine, isAll, next }: LeadProps) {
  if (mine === 0) return <>Nothing waits for you.</>;
  return (
    <>
      {isAll ? "" : "At least "}
      {several(mine, "approval waits", "approvals wait")} for you
      {next === null ? (
        "."
      ) : (
        <>
          ; the first runs out <When at={next} />.
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
      lead={
        data.is_empty ? undefined : <Lead mine={data.mine} isAll={data.is_all} next={data.next_deadline} />
      }
    >
      {data.is_empty ? (
        <FirstRun />
      ) : (
        <>
          <Signs attention={data} />
          <WaitsForYou mine={data.mine} pending={data.pending} />
          <Lately />
        </>
      )}
    </Page>
  );
}
