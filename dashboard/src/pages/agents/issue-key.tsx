/** The form by which a key is issued. */
import { useState } from "react";
import { SCOPES } from "../../../../src/kernel/registry.ts";
import { client } from "../../api/client.ts";
import { byOf, nameOf, type Session, useSession } from "../../api/session.ts";
import { useDeed } from "../../api/use-deed.ts";
import { ROLE_WORDS, ROLES, scopeWords } from "../../format/rights.ts";
import { spansWith } from "../../format/spans.ts";
import { CheckList } from "../../ui/check-list.tsx";
import type { Dialogue } from "../../ui/dialog-button.tsx";
import { Choice, TextField } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { type KeyForm, type KeyOffer, keyOfferOf } from "./key-form.ts";
import type { Kind } from "./principals.ts";

type Fields = { readonly form: KeyForm; readonly change: (part: Partial<KeyForm>) => void };

const KIND_WORDS: { readonly [kind in Kind]: string } = {
  agent: "an agent",
  service: "a service",
  person: "myself",
};
const roleOptions = ROLES.map((id) => ({ id, words: ROLE_WORDS[id] }));

function Whom({ form, change, session }: Fields & { readonly session: Session }) {
  const choose = (kind: Kind) =>
    change({ kind, ...(kind === "person" ? { who: nameOf(session.principal) } : {}) });
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Choice label="For" value={form.kind} onChange={(event) => choose(event.target.value as Kind)}>
        {(["agent", "service", "person"] as const).map((kind) => (
          <option key={kind} value={kind}>
            {KIND_WORDS[kind]}
          </option>
        ))}
      </Choice>
      <TextField
        label="Who"
        value={form.who}
        placeholder="mailer"
        spellCheck={false}
        readOnly={form.kind === "person"}
        onChange={(event) => change({ who: event.target.value })}
      />
    </div>
  );
}

function Narrower({ form, change }: Fields) {
  const options = SCOPES.map((id) => ({ id, words: scopeWords(id) }));
  return (
    <details className="rounded-base border border-line p-3">
      <summary className="cursor-pointer text-small font-semibold">
        {form.scopes.length === 0 ? "All that its roles bring" : `Only ${form.scopes.length} of it`}
      </summary>
      <div className="mt-3">
        <CheckList
          label="Only for"
          options={options}
          chosen={form.scopes}
          onChange={(scopes) => change({ scopes })}
          isNarrow
        />
      </div>
    </details>
  );
}

function Life({ form, change }: Fields) {
  return (
    <Choice
      label="Works for"
      value={form.seconds}
      onChange={(event) => change({ seconds: Number(event.target.value) })}
    >
      <option value={0}>until it is revoked</option>
      {spansWith(form.seconds === 0 ? 86_400 : form.seconds).map(({ seconds, words }) => (
        <option key={seconds} value={seconds}>
          {words}
        </option>
      ))}
    </Choice>
  );
}

const NOTE = (
  <>
    Send it as <code className="font-mono">Authorization: Bearer …</code>, never in an address. Whoever holds
    it acts under this name.
  </>
);

type Props = Dialogue & { readonly first: KeyForm };

export function IssueKey({ first, onShow, onClose }: Props) {
  const session = useSession();
  const [form, setForm] = useState(first);
  const offer = keyOfferOf(form);
  const deed = useDeed({
    does: (wanted: KeyOffer) => client.keys.issue({ ...wanted, ...byOf(session) }),
    touches: "keys",
    onDone: ({ key: { principal }, text }) => onShow({ label: `The key of ${principal}`, text, note: NOTE }),
  });
  const fields = { form, change: (part: Partial<KeyForm>) => setForm({ ...form, ...part }) };
  return (
    <Form
      deed={deed}
      submit="Issue the key"
      isReady={offer !== null}
      onSubmit={() => {
        if (offer !== null) deed.run(offer);
      }}
      onCancel={onClose}
    >
      <Whom {...fields} session={session} />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="Name of the key"
          value={form.name}
          placeholder="web-1"
          onChange={(event) => fields.change({ name: event.target.value })}
        />
        <Life {...fields} />
      </div>
      {form.kind === "person" ? (
        <p className="text-small text-soft">
          It may do what you may: your roles stand in the list of people.
        </p>
      ) : (
        <CheckList
          label="Roles"
          options={roleOptions}
          chosen={form.roles}
          onChange={(roles) => fields.change({ roles })}
        />
      )}
      <Narrower {...fields} />
    </Form>
  );
}
