/** Somebody of the list, and what can be done about them. */
import { client } from "../../api/client.ts";
import type { Person } from "../../api/people.ts";
import { byOf, may, useSession } from "../../api/session.ts";
import { Badge } from "../../ui/badge.tsx";
import { DialogButton } from "../../ui/dialog-button.tsx";
import { ReasonButton } from "../../ui/reason-button.tsx";
import { Strange } from "../../ui/strange.tsx";
import { When } from "../../ui/when.tsx";
import { LoginLink } from "./login-link.tsx";
import { ChangePerson } from "./person-forms.tsx";

type Props = { readonly of: Person };

function Change({ of }: Props) {
  return (
    <DialogButton label="Change" icon="edit" title={`Change ${of.name}`}>
      {({ onClose }) => <ChangePerson of={of} onClose={onClose} />}
    </DialogButton>
  );
}

function Link({ of }: Props) {
  return (
    <DialogButton label="Login link" icon="link" title={`A login link for ${of.name}`}>
      {(dialogue) => <LoginLink person={of.person} {...dialogue} />}
    </DialogButton>
  );
}

function Standing({ of: { person, name, suspended } }: Props) {
  const session = useSession();
  const said = (reason: string) => ({ reason, ...byOf(session) });
  if (suspended)
    return (
      <ReasonButton
        label="Reinstate"
        title={`Reinstate ${name}`}
        says="Their votes, keys, sessions and grants count again."
        submit="Reinstate"
        kind="go"
        touches="people"
        told={`${name} is reinstated.`}
        does={(reason) => client.people.reinstate(person, said(reason))}
      />
    );
  return (
    <ReasonButton
      label="Suspend"
      title={`Suspend ${name}`}
      says="From now on their votes, keys, sessions and standing grants do not count, until they are reinstated."
      submit="Suspend"
      touches="people"
      told={`${name} is suspended.`}
      does={(reason) => client.people.suspend(person, said(reason))}
    />
  );
}

function Remove({ of: { person, name } }: Props) {
  const session = useSession();
  return (
    <ReasonButton
      label="Remove"
      title={`Remove ${name}`}
      says="Their keys and sessions are worth nothing from now on. Somebody who is added again is somebody new: what they held before stays worthless. What they decided stays in the journal."
      submit="Remove"
      touches="people"
      told={`${name} is removed.`}
      does={(reason) => client.people.remove(person, { reason, ...byOf(session) })}
    />
  );
}

function Who({ of: { person, name, mail, suspended, since } }: Props) {
  return (
    <div className="min-w-0">
      <p className="flex flex-wrap items-center gap-2">
        <Strange text={name} className="font-semibold" />
        {suspended ? <Badge status="suspended" tone="stop" /> : null}
      </p>
      <p className="text-small text-soft">
        <Strange text={person} className="font-mono" />
        {mail === null ? null : (
          <>
            {" · "}
            <Strange text={mail} />
          </>
        )}
      </p>
      <p className="text-tiny text-faint">
        in the list since <When at={since} />
      </p>
    </div>
  );
}

export function PersonRow({ of }: Props) {
  const session = useSession();
  return (
    <li className="grid items-center gap-x-6 gap-y-2 px-4 py-3 sm:px-5 lg:grid-cols-[minmax(0,1fr)_minmax(0,0.7fr)_25rem]">
      <Who of={of} />
      <div className="text-small">
        <p>{of.roles.join(", ") || <span className="text-soft">no role</span>}</p>
        {of.groups.length === 0 ? null : (
          <p className="text-soft">
            groups: <Strange text={of.groups.join(", ")} />
          </p>
        )}
      </div>
      {may(session, "people:write") ? (
        <div className="flex flex-wrap gap-2 lg:justify-end">
          <Change of={of} />
          <Link of={of} />
          <Standing of={of} />
          <Remove of={of} />
        </div>
      ) : null}
    </li>
  );
}
