/** Stops and releases one agent, service or workflow; each wants a reason. */
import { client } from "../api/client.ts";
import { byOf, useSession } from "../api/session.ts";
import type { Whose } from "../api/switch.ts";
import { ReasonButton } from "./reason-button.tsx";
import { Strange } from "./strange.tsx";

type Props = { readonly whose: Whose; readonly name: string; readonly isStopped: boolean };

export function TurnSwitch({ whose, name, isStopped }: Props) {
  const session = useSession();
  const who = <Strange text={name} className="font-semibold text-ink" />;
  if (isStopped)
    return (
      <ReasonButton
        label="Release"
        icon="play"
        title="Release"
        says={<>Effects of {who} may start again. What waited for this goes on when it is called again.</>}
        submit="Release"
        kind="go"
        touches="switch"
        told={`${name} is released.`}
        does={(reason) => client.killSwitch.resume({ ...whose, reason, ...byOf(session) })}
      />
    );
  return (
    <ReasonButton
      label="Stop"
      icon="stop"
      title="Stop"
      says={<>No new effect of {who} starts. What was sent is not called back; its outcome is recorded.</>}
      submit="Stop"
      touches="switch"
      told={`${name} is stopped.`}
      does={(reason) => client.killSwitch.pause({ ...whose, reason, ...byOf(session) })}
    />
  );
}
