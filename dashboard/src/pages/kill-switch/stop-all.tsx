/** The switch of the tenant: what it does, and the two steps to turn it. */
import { type ReactNode, useState } from "react";
import { client } from "../../api/client.ts";
import { byOf, may, nameOf, useSession } from "../../api/session.ts";
import type { SwitchState } from "../../api/switch.ts";
import { useDeed } from "../../api/use-deed.ts";
import { momentText } from "../../format/times.ts";
import { Button } from "../../ui/button.tsx";
import { classes } from "../../ui/classes.ts";
import { TextField } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Icon } from "../../ui/icon.tsx";
import { NotAllowed } from "../../ui/not-allowed.tsx";
import { Strange } from "../../ui/strange.tsx";
import { toast } from "../../ui/toaster.tsx";
import { When } from "../../ui/when.tsx";

/** For whoever has no time to write. */
const AT_HAND = ["An agent runs away", "Results are wrong", "Suspected attack", "Drill"];

/** Where one stands after the switch was turned. */
const HEADING = "tenant-switch";

type StepProps = { readonly isStopped: boolean; readonly onClose: () => void };

function SecondStep({ isStopped, onClose }: StepProps) {
  const session = useSession();
  const [reason, setReason] = useState("");
  const given = reason.trim();
  const deed = useDeed({
    does: () => {
      const said = { reason: given, ...byOf(session) };
      return isStopped ? client.killSwitch.resume(said) : client.killSwitch.pause(said);
    },
    touches: "switch",
    onDone: () => {
      toast(
        isStopped ? "Released: effects may start." : "Stopped: no new effect starts.",
        isStopped ? "go" : "stop",
      );
      onClose();
      document.getElementById(HEADING)?.focus();
    },
  });
  return (
    <Form
      deed={deed}
      submit={isStopped ? "Release everything" : "Stop everything now"}
      kind={isStopped ? "go" : "stop"}
      isReady={given !== ""}
      onSubmit={() => deed.run(undefined)}
      onCancel={onClose}
    >
      <TextField
        label="Why"
        hint="It stands in the journal, with your name. Enter confirms."
        value={reason}
        autoFocus
        onChange={(event) => setReason(event.target.value)}
      />
      {isStopped ? null : (
        <div className="flex flex-wrap gap-2">
          {AT_HAND.map((words) => (
            <Button key={words} size="small" onClick={() => setReason(words)}>
              {words}
            </Button>
          ))}
        </div>
      )}
    </Form>
  );
}

function Steps({ isStopped }: Pick<StepProps, "isStopped">) {
  const [asked, setAsked] = useState<"not yet" | "now" | "before">("not yet");
  if (!may(useSession(), "switch:write"))
    return <NotAllowed what="Turning the kill switch" scope="switch:write" />;
  if (asked === "now") return <SecondStep isStopped={isStopped} onClose={() => setAsked("before")} />;
  return (
    <Button
      kind={isStopped ? "go" : "stop"}
      icon={isStopped ? "play" : "stop"}
      className="min-h-16 w-full text-large sm:w-auto sm:px-10"
      autoFocus={asked === "before"}
      onClick={() => setAsked("now")}
    >
      {isStopped ? "Release …" : "Stop everything …"}
    </Button>
  );
}

function Effects({ items }: { readonly items: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="grid gap-x-6 gap-y-0.5 text-small sm:gap-y-2 sm:grid-cols-[9rem_minmax(0,1fr)]">
      {items.map(([name, words]) => (
        <div key={name} className="contents">
          <dt className="font-semibold">{name}</dt>
          <dd className="text-soft max-sm:mb-2">{words}</dd>
        </div>
      ))}
    </dl>
  );
}

const WHEN_STOPPED = [
  ["New effects", "None starts, in any process, until it is released."],
  ["What was sent", "Is not called back. Its outcome is recorded when it comes."],
  ["Not yet sent", "What was started and not yet sent is given up: it is recorded as not applied."],
  ["Questions", "Stay open, and people can decide. What they approve waits until the release."],
  ["Agents", "Can still propose. They are told that it is held, and why."],
] as const;

export function StopAll({ state }: { readonly state: SwitchState }) {
  const { paused: stopped } = state;
  return (
    <section
      aria-labelledby={HEADING}
      className={classes(
        "grid gap-6 rounded-large border-2 p-5 sm:p-8 lg:grid-cols-[minmax(0,1fr)_minmax(0,1fr)]",
        stopped ? "border-stop bg-stop-wash" : "border-line bg-surface",
      )}
    >
      <div className="flex flex-col items-start gap-5">
        <div>
          <p
            className={classes(
              "flex items-center gap-2 text-small font-semibold",
              stopped ? "text-stop" : "text-go",
            )}
          >
            <Icon name={stopped ? "stop" : "play"} className="size-5" />
            {stopped ? "Stopped" : "Running"}
          </p>
          <h2 id={HEADING} tabIndex={-1} className="mt-1 text-title font-semibold">
            {stopped ? "No new effect starts" : "Effects may start"}
          </h2>
          {state.paused ? (
            <p className="mt-2 text-soft">
              <Strange text={nameOf(state.by)} className="font-semibold text-ink" /> stopped everything{" "}
              <When at={state.at} />, on {momentText(state.at)}:{" "}
              <Strange isProse text={state.reason} className="text-ink" />
            </p>
          ) : null}
        </div>
        <div className="w-full">
          <Steps key={String(stopped)} isStopped={stopped} />
        </div>
      </div>
      <div>
        <h3 className="mb-3 text-small font-semibold">
          {stopped ? "While it is stopped" : "What stopping does"}
        </h3>
        <Effects items={WHEN_STOPPED} />
      </div>
    </section>
  );
}
