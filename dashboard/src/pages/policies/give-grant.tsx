/** The form by which a standing grant is given. */
import { type ChangeEvent, useState } from "react";
import { client } from "../../api/client.ts";
import { byOf, useSession } from "../../api/session.ts";
import { useDeed } from "../../api/use-deed.ts";
import { spansWith } from "../../format/spans.ts";
import { Choice, TextArea, TextField } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { toast } from "../../ui/toaster.tsx";
import { type GrantForm, type GrantOffer, grantFaults, LONGEST_SECONDS, offerOf } from "./grant-form.ts";

type Fields = { readonly form: GrantForm; readonly change: (part: Partial<GrantForm>) => void };
type Typed = ChangeEvent<HTMLInputElement | HTMLTextAreaElement>;

function textProps({ form, change }: Fields, field: Exclude<keyof GrantForm, "seconds">) {
  return {
    value: form[field],
    fault: grantFaults(form)[field],
    onChange: (event: Typed) => change({ [field]: event.target.value }),
  };
}

function What(fields: Fields) {
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField label="Tool" required spellCheck={false} {...textProps(fields, "tool")} />
        <TextField
          label="Agent"
          placeholder="any"
          hint="Left out: whichever asks."
          spellCheck={false}
          {...textProps(fields, "agent")}
        />
      </div>
      <TextArea
        label="Only when"
        rows={2}
        placeholder="args.amount_usd <= 100"
        hint="A condition in CEL over args. Left out: whatever the arguments are."
        spellCheck={false}
        {...textProps(fields, "when")}
      />
    </>
  );
}

function HowMuch(fields: Fields) {
  const { form, change } = fields;
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField label="Uses" inputMode="numeric" required {...textProps(fields, "uses")} />
        <Choice
          label="For"
          value={form.seconds}
          onChange={(event) => change({ seconds: Number(event.target.value) })}
        >
          {spansWith(form.seconds, LONGEST_SECONDS).map(({ seconds, words }) => (
            <option key={seconds} value={seconds}>
              {words}
            </option>
          ))}
        </Choice>
      </div>
      <div className="grid gap-4 sm:grid-cols-[minmax(0,1fr)_6rem_minmax(0,1fr)]">
        <TextField
          label="At most in all"
          inputMode="decimal"
          placeholder="no limit"
          {...textProps(fields, "total")}
        />
        <TextField label="Currency" spellCheck={false} {...textProps(fields, "currency")} />
        <TextField
          label="Summed from"
          placeholder="args.amount_usd"
          spellCheck={false}
          {...textProps(fields, "amount")}
        />
      </div>
    </>
  );
}

type Props = { readonly first: GrantForm; readonly onClose: () => void };

export function GiveGrant({ first, onClose }: Props) {
  const session = useSession();
  const [form, setForm] = useState(first);
  const offer = offerOf(form);
  const deed = useDeed({
    does: (terms: GrantOffer) => client.grants.give({ ...terms, ...byOf(session) }),
    touches: "grants",
    onDone: () => {
      toast("The grant stands.");
      onClose();
    },
  });
  const fields = { form, change: (part: Partial<GrantForm>) => setForm({ ...form, ...part }) };
  return (
    <Form
      deed={deed}
      submit="Give the grant"
      isReady={offer !== null}
      onSubmit={() => {
        if (offer !== null) deed.run(offer);
      }}
      onCancel={onClose}
    >
      <p className="text-small text-soft">
        Where a policy would ask one person, calls that fit run without asking. A block is never overruled,
        and every use is recorded as yours.
      </p>
      <What {...fields} />
      <HowMuch {...fields} />
      <TextArea label="Reason" rows={2} required {...textProps(fields, "reason")} />
    </Form>
  );
}
