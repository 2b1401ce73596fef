/** Where an endpoint goes, and what is told there. */
import { TextArea, TextField } from "../../ui/field.tsx";
import type { EndpointForm } from "./endpoint-form.ts";

type Props = {
  readonly form: EndpointForm;
  readonly change: (part: Partial<EndpointForm>) => void;
  /** Of the events, what leaving them out means. */
  readonly whenLeftOut: string;
};

function Where({ form, change }: Omit<Props, "whenLeftOut">) {
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

export function EndpointFields({ form, change, whenLeftOut }: Props) {
  return (
    <>
      <Where form={form} change={change} />
      <TextField
        label="Events"
        placeholder={whenLeftOut}
        hint={`Such as approval.* or approval.requested, alert.raised; * is everything. Left out: ${whenLeftOut}.`}
        value={form.events}
        spellCheck={false}
        onChange={(event) => change({ events: event.target.value })}
      />
      <TextField
        label="Name (may be left out)"
        value={form.name}
        onChange={(event) => change({ name: event.target.value })}
      />
    </>
  );
}
