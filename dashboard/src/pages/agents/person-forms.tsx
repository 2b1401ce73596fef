/** The forms by which somebody is added to the list of people, or changed. */
import { useState } from "react";
import { client } from "../../api/client.ts";
import type { Person } from "../../api/people.ts";
import { byOf, useSession } from "../../api/session.ts";
import { useDeed } from "../../api/use-deed.ts";
import { ROLE_WORDS, ROLES, type Role } from "../../format/rights.ts";
import { CheckList } from "../../ui/check-list.tsx";
import { TextField } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { toast } from "../../ui/toaster.tsx";

type PersonForm = {
  readonly name: string;
  readonly mail: string;
  readonly roles: readonly Role[];
  readonly groups: string;
};
type Fields = { readonly form: PersonForm; readonly change: (part: Partial<PersonForm>) => void };

const roleOptions = ROLES.map((id) => ({ id, words: ROLE_WORDS[id] }));
const groupsOf = (typed: string): string[] =>
  typed
    .split(",")
    .map((group) => group.trim())
    .filter((group) => group !== "");

function Particulars({ form, change }: Fields) {
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="Shown as"
          value={form.name}
          placeholder="Ann Smith"
          onChange={(event) => change({ name: event.target.value })}
        />
        <TextField
          label="Mail (may be left out)"
          type="email"
          value={form.mail}
          onChange={(event) => change({ mail: event.target.value })}
        />
      </div>
      <CheckList
        label="Roles"
        options={roleOptions}
        chosen={form.roles}
        onChange={(roles) => change({ roles })}
      />
      <TextField
        label="Groups"
        hint="Names of your own, with commas between them. Approver rules can name them."
        value={form.groups}
        placeholder="finance, on-call"
        onChange={(event) => change({ groups: event.target.value })}
      />
    </>
  );
}

const sentOf = ({ name, mail, roles, groups }: PersonForm) => ({
  ...(name.trim() === "" ? {} : { name: name.trim() }),
  mail: mail.trim() === "" ? null : mail.trim(),
  roles: [...roles],
  groups: groupsOf(groups),
});

export function AddPerson({ onClose }: { readonly onClose: () => void }) {
  const session = useSession();
  const [who, setWho] = useState("");
  const [form, setForm] = useState<PersonForm>({ name: "", mail: "", roles: ["supervisor"], groups: "" });
  const bare = who.trim().replace(/^person:/, "");
  const deed = useDeed({
    does: () => {
      const { mail, ...rest } = sentOf(form);
      const given = mail === null ? rest : { ...rest, mail };
      return client.people.add({ person: `person:${bare}`, ...given, ...byOf(session) });
    },
    touches: "people",
    onDone: ({ name }) => {
      toast(`${name} is in the list. Make a login link for them next.`);
      onClose();
    },
  });
  return (
    <Form
      deed={deed}
      submit="Add"
      isReady={bare !== ""}
      onSubmit={() => deed.run(undefined)}
      onCancel={onClose}
    >
      <TextField
        label="Name in rules and in the journal"
        hint="Short, and for good: person:ann."
        value={who}
        placeholder="ann"
        spellCheck={false}
        autoCapitalize="off"
        onChange={(event) => setWho(event.target.value)}
      />
      <Particulars form={form} change={(part) => setForm({ ...form, ...part })} />
    </Form>
  );
}

type ChangeProps = { readonly of: Person; readonly onClose: () => void };

export function ChangePerson({ of, onClose }: ChangeProps) {
  const session = useSession();
  const { name, mail, roles, groups } = of;
  const [form, setForm] = useState<PersonForm>({ name, mail: mail ?? "", roles, groups: groups.join(", ") });
  const deed = useDeed({
    does: () => client.people.change(of.person, { ...sentOf(form), ...byOf(session) }),
    touches: "people",
    onDone: () => {
      toast("Changed; it counts at once.");
      onClose();
    },
  });
  return (
    <Form deed={deed} submit="Change" onSubmit={() => deed.run(undefined)} onCancel={onClose}>
      <Particulars form={form} change={(part) => setForm({ ...form, ...part })} />
    </Form>
  );
}
