/** Every version that was in force, by policy, newest first. */
import { Link } from "@tanstack/react-router";
import { momentText } from "../../format/times.ts";
import { Badge } from "../../ui/badge.tsx";
import { classes } from "../../ui/classes.ts";
import { Panel } from "../../ui/panel.tsx";
import { Strange } from "../../ui/strange.tsx";
import type { Tone } from "../../ui/tone.ts";
import { When } from "../../ui/when.tsx";
import { type PolicyGroup, shortDigest } from "./policy-groups.ts";
import type { Version } from "./policy-queries.ts";

const STANDINGS: { readonly [standing in Version["standing"]]: readonly [string, Tone] } = {
  used: ["in force", "go"],
  ended: ["ended", "plain"],
  unused: ["never used", "plain"],
};

export function StandingBadge({ version }: { readonly version: Version }) {
  const [words, tone] = STANDINGS[version.standing];
  return <Badge status={words} tone={tone} />;
}

function VersionLink({ version, isOpen }: { readonly version: Version; readonly isOpen: boolean }) {
  const { digest, at, until, by, source, standing } = version;
  return (
    <Link
      to="/policies"
      search={{ tab: "versions", version: digest, since: at }}
      aria-current={isOpen ? "true" : undefined}
      className={classes(
        "relative flex gap-3 py-2.5 pr-4 pl-4 sm:pl-5 hover:bg-sunken",
        isOpen && "bg-sunken",
      )}
    >
      <span
        aria-hidden="true"
        className={classes(
          "mt-1.5 size-2.5 shrink-0 rounded-full border-2",
          standing === "used" ? "border-go bg-go" : "border-edge bg-surface",
        )}
      />
      <span className="min-w-0 grow">
        <span className="flex flex-wrap items-center gap-x-2">
          <code className="font-mono text-small font-semibold">{shortDigest(digest)}</code>
          <StandingBadge version={version} />
        </span>
        <span className="block text-tiny text-soft">
          since {momentText(at)}
          {until === null ? "" : ` until ${momentText(until)}`}
        </span>
        <span className="block truncate text-tiny text-faint">
          <Strange text={by} /> from <Strange text={source} />
        </span>
      </span>
      <When at={at} className="shrink-0 text-tiny text-faint" />
    </Link>
  );
}

type Props = { readonly groups: readonly PolicyGroup[]; readonly open: Version | undefined };

export function VersionList({ groups, open }: Props) {
  return (
    <div className="flex flex-col gap-4">
      {groups.map(({ name, versions }) => (
        <Panel
          key={name}
          isFlush
          title={<Strange text={name} />}
          aside={versions.length === 1 ? "1 version" : `${versions.length} versions`}
        >
          <ol className="divide-y divide-line">
            {versions.map((version) => (
              <li key={`${version.digest}${version.at}`}>
                <VersionLink version={version} isOpen={version === open} />
              </li>
            ))}
          </ol>
        </Panel>
      ))}
    </div>
  );
}
