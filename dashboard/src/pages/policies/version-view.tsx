/** One version: its text, or what is different from another version of the same policy. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { changedParts, lineDiff } from "../../format/line-diff.ts";
import { momentText } from "../../format/times.ts";
import { Asked } from "../../ui/asked.tsx";
import { Facts } from "../../ui/facts.tsx";
import { Choice } from "../../ui/field.tsx";
import { Known } from "../../ui/known.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Strange } from "../../ui/strange.tsx";
import { CodeLines, DiffLines } from "./code-lines.tsx";
import { shortDigest } from "./policy-groups.ts";
import { type Version, versionQuery } from "./policy-queries.ts";
import { StandingBadge } from "./version-list.tsx";

function Difference({ from, to }: { readonly from: string; readonly to: string }) {
  const lines = lineDiff(from, to);
  const isSame = lines.every(({ kind }) => kind === "same");
  return (
    <>
      <DiffLines label="What is different" lines={isSame ? lines : changedParts(lines)} />
      {isSame ? <p className="mt-2 text-small text-soft">Both say the same.</p> : null}
    </>
  );
}

type Shown = { readonly version: Version; readonly against: string };

function VersionBody({ version, against }: Shown) {
  const own = useQuery(versionQuery(version.digest));
  const other = useQuery(versionQuery(against));
  if (against === "")
    return (
      <Asked query={own}>
        {(one) => <CodeLines label={`The text of ${version.name}`} text={one.text} />}
      </Asked>
    );
  return (
    <Asked query={own}>
      {(one) => <Asked query={other}>{(older) => <Difference from={older.text} to={one.text} />}</Asked>}
    </Asked>
  );
}

function CompareChoice({ version, against, others }: Shown & { readonly others: readonly Version[] }) {
  const navigate = useNavigate();
  const compare = (digest: string) =>
    void navigate({
      to: "/policies",
      search: (search) => ({ ...search, version: version.digest, since: version.at, against: digest }),
    });
  return (
    <Choice
      label="Show"
      className="max-w-md grow"
      value={against}
      onChange={(event) => compare(event.target.value)}
    >
      <option value="">the whole text</option>
      {others.map(({ digest, at }) => (
        <option key={digest} value={digest}>
          what changed since {shortDigest(digest)} ({momentText(at)})
        </option>
      ))}
    </Choice>
  );
}

type Props = Shown & { readonly others: readonly Version[] };

export function VersionView({ version, against, others }: Props) {
  const { name, digest, by, source } = version;
  const title = (
    <span className="flex flex-wrap items-baseline gap-x-2">
      <Strange text={name} />
      <code className="font-mono text-small font-normal text-soft">{shortDigest(digest)}</code>
    </span>
  );
  return (
    <Panel title={title} aside={<StandingBadge version={version} />}>
      <div className="flex flex-col gap-4">
        <Facts
          facts={[
            { name: "In force since", value: momentText(version.at) },
            version.until === null ? null : { name: "Until", value: momentText(version.until) },
            { name: "Put there by", value: <Strange text={by} /> },
            { name: "From", value: <Strange text={source} /> },
            { name: "Digest", value: <Known id={digest} isShort /> },
          ]}
        />
        <div className="flex flex-wrap items-end gap-3">
          {others.length === 0 ? null : <CompareChoice {...{ version, against, others }} />}
          <Link
            to="/policies"
            search={{ tab: "backtest", from: digest }}
            className="inline-flex min-h-11 items-center font-semibold underline"
          >
            Edit a copy and back-test it
          </Link>
        </div>
        <VersionBody {...{ version, against }} />
      </div>
    </Panel>
  );
}
