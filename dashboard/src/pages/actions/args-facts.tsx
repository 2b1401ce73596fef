/** Proposed, approved, executed: as many facts as there are different ones. */
import type { Action, JournalLine } from "../../api/actions.ts";
import { Badge } from "../../ui/badge.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Principals } from "../../ui/principals.tsx";
import { Strange } from "../../ui/strange.tsx";
import { ValueBlock } from "../../ui/values/value-block.tsx";
import { When } from "../../ui/when.tsx";
import { RAN_FROM } from "./action-words.ts";
import { argsNote, argsStory, changedFields, type History, type Version } from "./args-story.ts";

function titleOf({ kind, by }: Version): string {
  if (kind === "proposed") return "Proposed";
  return by.startsWith("person:") ? "Changed by people" : "Changed by policy";
}

type VersionProps = {
  readonly version: Version;
  readonly before: Version | undefined;
  /** What ran, or would run now; null where it is another. */
  readonly action: Action | null;
};

function VersionView({ version, before, action }: VersionProps) {
  const changed = before === undefined ? [] : changedFields(before.args, version.args);
  return (
    <li className="flex min-w-0 flex-col gap-2">
      <ValueBlock
        heading={
          <>
            <span className="font-semibold">{titleOf(version)}</span>
            <span className="text-soft">
              {" "}
              by <Principals of={[version.by]} />, <When at={version.at} />
            </span>
          </>
        }
        value={version.args}
        label={titleOf(version)}
      />
      {changed.length === 0 ? null : (
        <p className="text-small text-note">
          different: <Strange text={changed.join(", ")} className="font-semibold" />
        </p>
      )}
      {version.reason === "" ? null : (
        <p className="text-small text-soft">
          because <Strange isProse text={version.reason} />
          {version.rule === "" ? null : (
            <>
              {" "}
              (rule <Strange text={version.rule} className="font-mono" />)
            </>
          )}
        </p>
      )}
      {action === null ? null : <Ran action={action} />}
    </li>
  );
}

function Ran({ action }: { readonly action: Action }) {
  return (
    <p className="flex flex-wrap items-center gap-x-2 text-small">
      <Badge
        status={action.effect === null ? "as it stands" : "executed"}
        tone={action.effect === null ? "hold" : "go"}
      />
      {RAN_FROM[action.executed_from] ?? action.executed_from}
      <span className="font-mono text-tiny text-faint">args_hash {action.args_hash}</span>
    </p>
  );
}

type Props = {
  readonly action: Action;
  readonly entries: readonly JournalLine[];
  readonly history: History;
};

export function ArgsFacts({ action, entries, history }: Props) {
  const story = argsStory(action.action_id, entries);
  const isOne = story.length < 2;
  const last = story.at(-1);
  return (
    <Panel title="Arguments" aside={argsNote(action.executed_from, story.length, history)}>
      {isOne ? (
        <div className="flex flex-col gap-2">
          <ValueBlock heading={<Ran action={action} />} value={action.args} label="Arguments" />
        </div>
      ) : (
        <ol className="grid gap-5 lg:grid-cols-2">
          {story.map((version, index) => (
            <VersionView
              key={`${version.digest} ${version.at}`}
              version={version}
              before={story[index - 1]}
              action={version === last ? action : null}
            />
          ))}
        </ol>
      )}
    </Panel>
  );
}
