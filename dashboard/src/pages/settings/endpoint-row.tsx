/** A webhook, people by mail, or a chat: where it goes, whether it arrives, and what can be done about it. */
import { client } from "../../api/client.ts";
import { byOf, may, nameOf, useSession } from "../../api/session.ts";
import { useDeed } from "../../api/use-deed.ts";
import { several } from "../../format/amounts.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { DialogButton, type Dialogue } from "../../ui/dialog-button.tsx";
import { Form } from "../../ui/form.tsx";
import { ReasonButton } from "../../ui/reason-button.tsx";
import { Failure } from "../../ui/states.tsx";
import { Strange } from "../../ui/strange.tsx";
import { toast } from "../../ui/toaster.tsx";
import { When } from "../../ui/when.tsx";
import { SECRET_NOTE } from "./add-endpoint.tsx";
import { ChangeEndpoint } from "./change-endpoint.tsx";
import { targetText } from "./endpoint-form.ts";
import type { Endpoint } from "./message-queries.ts";

type Props = { readonly of: Endpoint };

function Test({ of: { endpoint_id } }: Props) {
  const session = useSession();
  const deed = useDeed({
    does: () => client.endpoints.test(endpoint_id, byOf(session)),
    touches: "endpoints",
    onDone: ({ arrived, status, problem }) =>
      arrived
        ? toast(`The test message arrived${status === null ? "" : ` (answered ${status})`}.`)
        : toast(`It did not arrive: ${problem ?? `answered ${status}`}.`, "stop"),
  });
  return (
    <>
      <Button size="small" icon="play" isBusy={deed.isBusy} onClick={() => deed.run(undefined)}>
        Test now
      </Button>
      {deed.error === undefined ? null : <Failure error={deed.error} />}
    </>
  );
}

function RotateForm({ of, onShow, onClose }: Props & Dialogue) {
  const session = useSession();
  const deed = useDeed({
    does: () => client.endpoints.rotate(of.endpoint_id, byOf(session)),
    touches: "endpoints",
    onDone: ({ secret }) => onShow({ label: "The new secret", text: secret ?? "", note: SECRET_NOTE }),
  });
  return (
    <Form deed={deed} submit="Make a new secret" onSubmit={() => deed.run(undefined)} onCancel={onClose}>
      <p className="text-soft">
        The old secret signs too for a while, so that the receiver can be changed over without losing a
        message.
      </p>
    </Form>
  );
}

function Rotate({ of }: Props) {
  return (
    <DialogButton label="Rotate" icon="undo" title="A new secret">
      {(dialogue) => <RotateForm of={of} {...dialogue} />}
    </DialogButton>
  );
}

function OnOff({ of: { endpoint_id, status } }: Props) {
  const session = useSession();
  const said = (reason: string) => ({ ...(reason === "" ? {} : { reason }), ...byOf(session) });
  if (status === "on")
    return (
      <ReasonButton
        label="Switch off"
        title="Switch it off"
        says="Nothing is sent there until it is switched on. What was made waits."
        submit="Switch off"
        touches="endpoints"
        told="It is off."
        isOptional
        does={(reason) => client.endpoints.switchOff(endpoint_id, said(reason))}
      />
    );
  return (
    <ReasonButton
      label="Switch on"
      title="Switch it on"
      says="What waited is sent first."
      submit="Switch on"
      kind="go"
      touches="endpoints"
      told="It is on."
      isOptional
      does={(reason) => client.endpoints.switchOn(endpoint_id, said(reason))}
    />
  );
}

function Remove({ of: { endpoint_id } }: Props) {
  const session = useSession();
  return (
    <ReasonButton
      label="Remove"
      title="Remove it"
      says="For good. What waits for it is dropped."
      submit="Remove"
      touches="endpoints"
      told="It is removed."
      isOptional
      does={(reason) =>
        client.endpoints.remove(endpoint_id, { ...(reason === "" ? {} : { reason }), ...byOf(session) })
      }
    />
  );
}

function Where({ of: { name, target, status, events, owner, added_at, missed, off } }: Props) {
  return (
    <div className="min-w-0 grow">
      <p className="flex flex-wrap items-center gap-2">
        <Strange text={name} className="font-semibold" />
        <Badge status={target.kind} tone="plain" />
        <Badge status={status} tone={status === "on" ? "go" : "hold"} />
        {missed > 0 ? <Badge status={`${several(missed, "message")} given up`} tone="stop" /> : null}
      </p>
      <Strange text={targetText(target)} className="block font-mono text-small" />
      <p className="text-small text-soft">
        <Strange text={events.join(", ")} /> · <Strange text={nameOf(owner)} />, <When at={added_at} />
      </p>
      {off === null ? null : (
        <p className="text-small text-hold">
          off since <When at={off.at} />, by <Strange text={nameOf(off.by)} />:{" "}
          <Strange isProse text={off.reason} />
        </p>
      )}
    </div>
  );
}

export function EndpointRow({ of }: Props) {
  const isMine = may(useSession(), "endpoints:write");
  return (
    <li className="flex flex-wrap items-start gap-x-6 gap-y-3 px-4 py-3 sm:px-5">
      <Where of={of} />
      {isMine && of.status !== "removed" ? (
        <div className="flex flex-wrap gap-2">
          {of.status === "on" ? <Test of={of} /> : null}
          <DialogButton label="Change" icon="edit" title={`Change ${of.name}`}>
            {({ onClose }) => <ChangeEndpoint of={of} onClose={onClose} />}
          </DialogButton>
          <OnOff of={of} />
          {of.target.kind === "webhook" ? <Rotate of={of} /> : null}
          <Remove of={of} />
        </div>
      ) : null}
    </li>
  );
}
