/** A rule, or a grant, that people's decisions support: with what speaks for it. */
import { may, nameOf, useSession } from "../../api/session.ts";
import { countText, several } from "../../format/amounts.ts";
import { Button } from "../../ui/button.tsx";
import { copyText, NOT_COPIED } from "../../ui/copy-text.ts";
import { DialogButton } from "../../ui/dialog-button.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Strange } from "../../ui/strange.tsx";
import { toast } from "../../ui/toaster.tsx";
import { GiveGrant } from "./give-grant.tsx";
import { grantFormOf } from "./grant-form.ts";
import type { Suggestion } from "./policy-queries.ts";

type Props = { readonly suggestion: Suggestion };

function Figure({ count, words }: { readonly count: number; readonly words: string }) {
  return (
    <div>
      <dt className="figures text-title font-semibold">{countText(count)}</dt>
      <dd className="text-small text-soft">{words}</dd>
    </div>
  );
}

function Evidence({ suggestion: { approved, people, days, let_through, kept_out } }: Props) {
  return (
    <div className="flex flex-col gap-3">
      <dl className="grid grid-cols-2 gap-4 sm:grid-cols-3">
        <Figure count={approved} words={`approved, in ${several(days, "day")}`} />
        <Figure count={let_through.total} words="recorded actions would not have been asked about" />
        <Figure count={kept_out} words="that people rejected or changed would still be asked about" />
      </dl>
      <p className="text-small text-soft">
        Decided by <Strange text={people.map(nameOf).join(", ")} />.
      </p>
    </div>
  );
}

function GrantButton({ suggestion }: Props) {
  const session = useSession();
  const { offer } = suggestion.as_grant;
  if (offer === null || !may(session, "grants:write")) return null;
  return (
    <DialogButton label="Give it as a grant" kind="main" icon="key" title="Give a standing grant">
      {({ onClose }) => <GiveGrant first={grantFormOf(offer)} onClose={onClose} />}
    </DialogButton>
  );
}

export function SuggestionCard({ suggestion }: Props) {
  const { headline, tool, agent, open, as_rule, as_grant } = suggestion;
  const copy = async () => {
    if (await copyText(as_rule.text)) toast("The rule is copied.");
    else toast(NOT_COPIED, "stop");
  };
  return (
    <Panel
      title={<Strange text={tool} className="font-mono" />}
      aside={
        <>
          by <Strange text={nameOf(agent)} />
        </>
      }
    >
      <div className="grid gap-5 lg:grid-cols-2">
        <div className="flex min-w-0 flex-col gap-4">
          <p>
            <Strange text={headline} />
          </p>
          <Evidence suggestion={suggestion} />
          {open.length === 0 ? null : (
            <p className="flex items-start gap-2 text-small text-hold">
              <Icon name="warn" className="mt-0.5 size-4" />
              <span>
                Whatever the value of <Strange text={open.join(", ")} className="font-mono" />.
              </span>
            </p>
          )}
        </div>
        <div className="flex min-w-0 flex-col gap-3">
          <Strange
            as="lines"
            text={as_rule.text}
            className="block rounded-base border border-line bg-sunken p-3 font-mono text-small"
          />
          <div className="flex flex-col gap-1 text-small text-soft">
            <p>
              <Strange text={as_rule.summary} />
            </p>
            <p>
              <Strange text={as_grant.summary} />
            </p>
          </div>
          <div className="flex flex-wrap gap-2">
            <GrantButton suggestion={suggestion} />
            <Button size="small" icon="copy" onClick={() => void copy()}>
              Copy the rule
            </Button>
          </div>
        </div>
      </div>
    </Panel>
  );
}
