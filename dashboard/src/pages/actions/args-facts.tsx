/** Proposed, approved, executed: as many facts as there are different ones. */
import type { Action, JournalLine } from "../../api/actions.ts";
import { JsonView } from "../../ui/json-view.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Principals } from "../../ui/principals.tsx";
import { Strange } from "../../ui/strange.tsx";
import { When } from "../../ui/when.tsx";
import { RAN_FROM } from "./action-words.ts";
import { argsStory, changedFields, type Version } from "./args-story.ts";

function titleOf({ kind, by }: Version): string {
  if (kind === "proposed") return "Proposed";
  return by.startsWith("person:") ? "Changed by people" : "Changed by policy";
}

function VersionView({
  version,
  before,
}: {
  readonly version: Version;
  readonly before: Version | undefined;
}) {
  const changed = before === undefined ? [] : changedFields(before.args, version.args);
  return (
    <li className="flex min-w-0 flex-col gap-2">
      <p className="text-small">
        <span className="font-semibold">{titleOf(version)}</span>
        <span className="text-soft">
          {" "}
          by <Principals of={[version.by]} />, <When at={version.at} />
        </span>
      </p>
      <JsonView value={version.args} label={titleOf(version)} />
      {changed.length === 0 ? null : (
        <p className="text-small text-note">
          different: <Strange text={changed.join(", ")} className="font-semibold" />
        </p>
      )}
      {version.reason === "" ? null : (
        <p className="text-small text-soft">
          because <Strange text={version.reason} />
          {version.rule === "" ? null : (
            <>
              {" "}
              (rule <Strange text={version.rule} className="font-mono" />)
            </>
          )}
        </p>
      )}
    </li>
  );
}

/** What ran, or would run now. */
function Now({ action }: { readonly action: Action }) {
  const hasRun = action.effect !== null;
  return (
    <li className="flex min-w-0 flex-col gap-2">
      <p className="text-small">
        <span className="font-semibold">{hasRun ? "Executed" : "As it stands"}</span>
        <span className="text-soft">: {RAN_FROM[action.executed_from] ?? action.executed_from}</span>
      </p>
      <JsonView value={action.args} label={hasRun ? "What ran" : "What would run"} />
      <p className="font-mono text-tiny text-faint">args_hash {action.args_hash}</p>
    </li>
  );
}

type Props = { readonly action: Action; readonly entries: readonly JournalLine[] };

export function ArgsFacts({ action, entries }: Props) {
  const story = argsStory(action.action_id, entries);
  const isOne = story.length < 2;
  return (
    <Panel
      title="Arguments"
      aside={isOne ? "proposed, approved and executed are the same" : "three facts, where they differ"}
    >
      <ol className={`grid gap-5 ${isOne ? "" : "lg:grid-cols-2 xl:grid-cols-3"}`}>
        {isOne
          ? null
          : story.map((version, index) => (
              <VersionView
                key={`${version.digest} ${version.at}`}
                version={version}
                before={story[index - 1]}
              />
            ))}
        <Now action={action} />
      </ol>
    </Panel>
  );
}
