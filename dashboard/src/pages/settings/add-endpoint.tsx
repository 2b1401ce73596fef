/** The form by which a webhook, or people by mail, are added. */
import { useState } from "react";
import { client } from "../../api/client.ts";
import { byOf, useSession } from "../../api/session.ts";
import { useDeed } from "../../api/use-deed.ts";
import { TextArea, TextField } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import type { Shown } from "../../ui/once-dialog.tsx";
import { Segments } from "../../ui/segments.tsx";
import { toast } from "../../ui/toaster.tsx";
import { BLANK_ENDPOINT, type EndpointForm, type EndpointOffer, endpointOfferOf } from "./endpoint-form.ts";

type Props = { readonly onShow: (shown: Shown) => void; readonly onClose: () => void };
type Fields = { readonly form: EndpointForm; readonly change: (part: Partial<EndpointForm>) => void };

export const SECRET_NOTE =
  "Every message is signed with it, by the rules of Standard Webhooks. The receiver checks the signature before it believes a message.";

function Where({ form, change }: Fields) {
  if (form.kind === "webhook")
    return (
      <TextField
        label="Address"
        type="url"
        placeholder="https://example.com/holdpoint"
        value={form.url}
        onChange={(event) => change({ url: event.target.value })}
      />
    );
  return (
    <TextArea
      label="To"
      rows={2}
      placeholder="approvers, role:supervisor, ann@example.com"
      hint="Addresses, person:, role:, group:, or approvers: whoever may decide."
      value={form.to}
      onChange={(event) => change({ to: event.target.value })}
    />
  );
}

export function AddEndpoint({ onShow, onClose }: Props) {
  const session = useSession();
  const [form, setForm] = useState(BLANK_ENDPOINT);
  const offer = endpointOfferOf(form);
  const deed = useDeed({
    does: (wanted: EndpointOffer) => client.endpoints.add({ ...wanted, ...byOf(session) }),
    touches: "endpoints",
    onDone: ({ secret }) => {
      if (secret !== null)
        return onShow({ label: "The secret of the webhook", text: secret, note: SECRET_NOTE });
      toast("Added.");
      onClose();
    },
  });
  const fields = { form, change: (part: Partial<EndpointForm>) => setForm({ ...form, ...part }) };
  return (
    <Form
      deed={deed}
      submit="Add"
      isReady={offer !== null}
      onSubmit={() => {
        if (offer !== null) deed.run(offer);
      }}
      onCancel={onClose}
    >
      <Segments
        label="What kind"
        value={form.kind}
        options={[
          { id: "webhook", title: "Webhook" },
          { id: "mail", title: "Mail" },
        ]}
        onChange={(kind) => fields.change({ kind })}
      />
      <Where {...fields} />
      <TextField
        label="Events"
        placeholder="everything"
        hint="Such as approval.* or approval.requested, alert.raised. Left out: everything."
        value={form.events}
        spellCheck={false}
        onChange={(event) => fields.change({ events: event.target.value })}
      />
      <TextField
        label="Name (may be left out)"
        value={form.name}
        onChange={(event) => fields.change({ name: event.target.value })}
      />
    </Form>
  );
}
