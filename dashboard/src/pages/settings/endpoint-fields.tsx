/** Where an endpoint goes, and what is told there. */
import { CHANNEL_WORDS } from "../../../../src/notify/rules/channel-words.ts";
import { TextArea, TextField } from "../../ui/field.tsx";
import type { EndpointForm } from "./endpoint-form.ts";

type Props = {
  readonly form: EndpointForm;
  readonly change: (part: Partial<EndpointForm>) => void;
  /** Of the events, what leaving them out means. */
  readonly whenLeftOut: string;
  /** The address of a chat is then not shown, and is changed by `holdpoint endpoints rotate`. */
  readonly isAdded?: boolean;
};

const SECRET = "It is a secret: it is stored encrypted and not shown again.";

function Where({ form, change }: Pick<Props, "form" | "change">) {
  const { address, example, hint } = CHANNEL_WORDS[form.kind];
  if (address !== "people")
    return (
      <TextField
        label="Address"
        type="url"
        placeholder={example}
        hint={address === "secret" ? `${hint} ${SECRET}` : hint}
        value={form.url}
        onChange={(event) => change({ url: event.target.value })}
      />
    );
  return (
    <TextArea
      label="To"
      rows={2}
      placeholder={example}
      hint={hint}
      value={form.to}
      onChange={(event) => change({ to: event.target.value })}
    />
  );
}

export function EndpointFields({ form, change, whenLeftOut, isAdded = false }: Props) {
  const isHidden = isAdded && CHANNEL_WORDS[form.kind].address === "secret";
  return (
    <>
      {isHidden ? null : <Where form={form} change={change} />}
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
