/** One key: what it may do, until when; rotated and revoked from here. */
import type { Key } from "../../api/agents.ts";
import { client } from "../../api/client.ts";
import { byOf, may, nameOf, useSession } from "../../api/session.ts";
import { several } from "../../format/amounts.ts";
import { scopeWords } from "../../format/rights.ts";
import { Badge } from "../../ui/badge.tsx";
import { classes } from "../../ui/classes.ts";
import { DialogButton } from "../../ui/dialog-button.tsx";
import { Known } from "../../ui/known.tsx";
import { ReasonButton } from "../../ui/reason-button.tsx";
import { Strange } from "../../ui/strange.tsx";
import { When } from "../../ui/when.tsx";
import { RotateKey } from "./rotate-key.tsx";

type Props = { readonly of: Key };

function MayDo({ of: { roles, scopes, principal } }: Props) {
  const words = scopes === null ? "all that its roles bring" : `only ${several(scopes.length, "scope")}`;
  const isPerson = principal.startsWith("person:");
  return (
    <div className="min-w-0 text-small">
      <p>{isPerson ? "as the list of people says" : roles.join(", ") || "no role"}</p>
      <p className="text-soft" title={scopes?.map(scopeWords).join("\n")}>
        {words}
      </p>
      {scopes === null ? null : <p className="sr-only">{scopes.map(scopeWords).join(", ")}</p>}
    </div>
  );
}

function Life({ of: { issued_at, by, expires_at, status, replaced_by } }: Props) {
  return (
    <div className="text-small text-soft">
      <p>
        issued <When at={issued_at} /> by <Strange text={nameOf(by)} />
      </p>
      <p>
        {expires_at === null ? (
          "until it is revoked"
        ) : (
          <>
            {status === "expired" ? "expired " : "expires "}
            <When at={expires_at} className={status === "active" ? "font-semibold text-ink" : ""} />
          </>
        )}
        {replaced_by === null ? "" : " · replaced by another"}
      </p>
    </div>
  );
}

function Rotate({ of }: Props) {
  return (
    <DialogButton label="Rotate" icon="undo" title={`Rotate ${of.name}`}>
      {(dialogue) => <RotateKey of={of} {...dialogue} />}
    </DialogButton>
  );
}

function Revoke({ of: { key_id, name, principal } }: Props) {
  const session = useSession();
  return (
    <ReasonButton
      label="Revoke"
      title={`Revoke ${name}`}
      says={
        <>
          The key of <Strange text={principal} className="font-semibold text-ink" /> is worth nothing from now
          on; in other processes within a second. It cannot be taken back: issue another.
        </>
      }
      submit="Revoke the key"
      touches="keys"
      told="The key is revoked."
      does={(reason) => client.keys.revoke(key_id, { reason, ...byOf(session) })}
    />
  );
}

export function KeyRow({ of }: Props) {
  const session = useSession();
  const isActive = of.status === "active";
  return (
    <li
      className={classes(
        "grid items-center gap-x-6 gap-y-2 px-4 py-3 sm:px-5 md:grid-cols-[minmax(0,1.2fr)_minmax(0,1fr)_minmax(0,1fr)_11.5rem]",
        !isActive && "bg-sunken",
      )}
    >
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-2">
          <Strange text={of.name} className="font-semibold" />
          {isActive ? null : <Badge status={of.status} />}
        </p>
        <Known id={of.key_id} isShort />
      </div>
      <MayDo of={of} />
      <Life of={of} />
      <div className="flex gap-2 md:justify-end">
        {isActive && may(session, "keys:write") ? (
          <>
            <Rotate of={of} />
            <Revoke of={of} />
          </>
        ) : null}
      </div>
    </li>
  );
}
