/** The form by which a webhook, people by mail, or a chat are added. */
import { useState } from "react";
import { CHANNEL_WORDS } from "../../../../src/notify/rules/channel-words.ts";
import { client } from "../../api/client.ts";
import { byOf, useSession } from "../../api/session.ts";
import { useDeed } from "../../api/use-deed.ts";
import type { Dialogue } from "../../ui/dialog-button.tsx";
import { Form } from "../../ui/form.tsx";
import { Segments } from "../../ui/segments.tsx";
import { toast } from "../../ui/toaster.tsx";
import { EndpointFields } from "./endpoint-fields.tsx";
import { BLANK_ENDPOINT, type EndpointForm, type EndpointOffer, endpointOfferOf } from "./endpoint-form.ts";

export const SECRET_NOTE =
  "Every message is signed with it, by the rules of Standard Webhooks. The receiver checks the signature before it believes a message.";

export function AddEndpoint({ onShow, onClose }: Dialogue) {
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
  const change = (part: Partial<EndpointForm>) => setForm({ ...form, ...part });
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
        options={Object.values(CHANNEL_WORDS).map(({ kind, title }) => ({ id: kind, title }))}
        onChange={(kind) => change({ kind })}
      />
      <EndpointFields form={form} change={change} whenLeftOut="everything" />
    </Form>
  );
}
