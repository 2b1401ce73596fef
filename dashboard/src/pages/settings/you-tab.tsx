/** Who one is here, how it looks, and where one is logged in. */
import { useState } from "react";
import { SCOPES } from "../../../../src/kernel/registry.ts";
import { claimName, useClaimedName } from "../../api/claimed-name.ts";
import { client } from "../../api/client.ts";
import { goToLogin } from "../../api/leaving.ts";
import { nameOf, useSession } from "../../api/session.ts";
import { useDeed } from "../../api/use-deed.ts";
import { ROLE_WORDS, type Role, scopeWords } from "../../format/rights.ts";
import { setTheme, useTheme } from "../../style/theme.ts";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/field.tsx";
import { Icon } from "../../ui/icon.tsx";
import { OwnSessions } from "../../ui/own-sessions.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Segments } from "../../ui/segments.tsx";
import { Failure } from "../../ui/states.tsx";
import { Strange } from "../../ui/strange.tsx";
import { toast } from "../../ui/toaster.tsx";

function Appearance() {
  return (
    <Panel title="Appearance" aside="kept in this browser">
      <Segments
        label="Appearance"
        value={useTheme()}
        options={[
          { id: "system", title: "As the system" },
          { id: "light", title: "Light" },
          { id: "dark", title: "Dark" },
        ]}
        onChange={setTheme}
      />
    </Panel>
  );
}

function ClaimedName() {
  const claimed = useClaimedName();
  const [name, setName] = useState(claimed);
  return (
    <form
      className="flex flex-wrap items-start gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        claimName(name);
        toast("From now on you decide under this name.");
      }}
    >
      <TextField
        label="Your name"
        hint="Nobody is authenticated here. What you decide is recorded under this name, and marked as unproven."
        value={name}
        className="grow"
        onChange={(event) => setName(event.target.value)}
      />
      <Button type="submit" disabled={name.trim() === ""} className="mt-6">
        Use it
      </Button>
    </form>
  );
}

function LogOut() {
  const deed = useDeed({ does: () => client.session.end(), onDone: goToLogin });
  return (
    <>
      <Button size="small" isBusy={deed.isBusy} onClick={() => deed.run(undefined)}>
        Log out
      </Button>
      {deed.error === undefined ? null : <Failure error={deed.error} />}
    </>
  );
}

const isRole = (role: string): role is Role => Object.hasOwn(ROLE_WORDS, role);

function Roles({ roles }: { readonly roles: readonly string[] }) {
  return (
    <ul className="flex flex-col gap-1 text-small">
      {roles.map((role) => (
        <li key={role}>
          <span className="font-semibold">{role}</span>
          <span className="text-soft">: {isRole(role) ? ROLE_WORDS[role] : ""}</span>
        </li>
      ))}
    </ul>
  );
}

function Rights({ scopes }: { readonly scopes: readonly string[] }) {
  return (
    <details>
      <summary className="cursor-pointer text-small font-semibold">
        What you may do: {scopes.length} of {SCOPES.length} things
      </summary>
      <ul className="mt-3 grid gap-x-6 gap-y-1 text-small sm:grid-cols-2">
        {SCOPES.map((scope) => {
          const isMine = scopes.includes(scope);
          return (
            <li key={scope} className="flex items-start gap-2">
              <Icon
                name={isMine ? "check" : "cross"}
                className={`mt-0.5 size-4 ${isMine ? "text-go" : "text-faint"}`}
              />
              <span className={isMine ? "" : "text-faint"}>
                <span className="sr-only">{isMine ? "you may " : "you may not "}</span>
                {scopeWords(scope)}
              </span>
            </li>
          );
        })}
      </ul>
    </details>
  );
}

function WhoAmI() {
  const { principal, tenant, roles, scopes, isOpen, via } = useSession();
  return (
    <Panel title="You" aside={via === "session" ? <LogOut /> : undefined}>
      <div className="flex flex-col gap-4">
        {isOpen ? (
          <ClaimedName />
        ) : (
          <p>
            <Strange text={nameOf(principal)} className="text-large font-semibold" />
            <span className="block text-small text-soft">
              <Strange text={principal ?? ""} className="font-mono" /> in the tenant <Strange text={tenant} />
            </span>
          </p>
        )}
        <Roles roles={roles} />
        <Rights scopes={scopes} />
      </div>
    </Panel>
  );
}

export function YouTab() {
  return (
    <div className="flex flex-col gap-4">
      <WhoAmI />
      <Appearance />
      <OwnSessions />
    </div>
  );
}
