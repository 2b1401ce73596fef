/** The form by which an endpoint is changed. What it is stays: a webhook, mail or a chat. */
import { useState } from "react";
import { client } from "../../api/client.ts";
import { byOf, useSession } from "../../api/session.ts";
import { useDeed } from "../../api/use-deed.ts";
import type { Dialogue } from "../../ui/dialog-button.tsx";
import { TextField } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { toast } from "../../ui/toaster.tsx";
import { EndpointFields } from "./endpoint-fields.tsx";
import { type EndpointChange, type EndpointForm, endpointChangeOf, endpointFormOf } from "./endpoint-form.ts";
import type { Endpoint } from "./message-queries.ts";

type Props = Pick<Dialogue, "onClose"> & { readonly of: Endpoint };

export function ChangeEndpoint({ of, onClose }: Props) {
  const session = useSession();
  // As it was when it was opened, whatever others do meanwhile.
  const [before] = useState(() => endpointFormOf(of));
  const [form, setForm] = useState(before);
  const wanted = endpointChangeOf(form, before);
  const deed = useDeed({
    does: (change: EndpointChange) =>
      client.endpoints.change(of.endpoint_id, { ...change, ...byOf(session) }),
    touches: "endpoints",
    onDone: () => {
      toast("Changed; it counts at once.");
      onClose();
    },
  });
  const change = (part: Partial<EndpointForm>) => setForm({ ...form, ...part });
  return (
    <Form
      deed={deed}
      submit="Change"
      isReady={wanted !== null}
      onSubmit={() => {
        if (wanted !== null) deed.run(wanted);
      }}
      onCancel={onClose}
    >
      <EndpointFields form={form} change={change} whenLeftOut="as they were" isAdded />
      <TextField
        label="Whose it is"
        hint="Whoever is asked when it does not arrive: person: or service: and a name."
        value={form.owner}
        spellCheck={false}
        autoCapitalize="off"
        onChange={(event) => change({ owner: event.target.value })}
      />
    </Form>
  );
}
