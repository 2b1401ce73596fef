/** What is not as it should be, each with the page that looks after it. Nothing is shown of what is well. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { AnswerOf } from "holdpoint/client";
import { switchQuery } from "../../api/switch.ts";
import { countText } from "../../format/amounts.ts";
import { classes } from "../../ui/classes.ts";
import { Icon, type IconName } from "../../ui/icon.tsx";
import { type Tone, WASH } from "../../ui/tone.ts";

type Attention = AnswerOf<"GET /api/attention">;
type Sign = {
  readonly figure: string;
  readonly words: string;
  readonly to: "/kill-switch" | "/in-doubt" | "/settings";
  readonly search?: { readonly tab: string };
  readonly tone: Tone;
  readonly icon: IconName;
};

const are = (count: number, one: string, many: string): string => (count === 1 ? one : many);

function signsOf(
  { stopped, in_doubt, alerts, dead_messages }: Attention,
  isStopped: boolean,
): readonly Sign[] {
  const signs: readonly (Sign | null)[] = [
    isStopped
      ? { figure: "Stopped", words: "the kill switch is on", to: "/kill-switch", tone: "stop", icon: "stop" }
      : null,
    stopped === 0
      ? null
      : {
          figure: countText(stopped),
          words: are(stopped, "agent or workflow is stopped", "agents or workflows are stopped"),
          to: "/kill-switch",
          tone: "stop",
          icon: "stop",
        },
    in_doubt === 0
      ? null
      : {
          figure: countText(in_doubt),
          words: are(
            in_doubt,
            "effect in doubt: nobody knows whether it happened",
            "effects in doubt: nobody knows whether they happened",
          ),
          to: "/in-doubt",
          tone: "doubt",
          icon: "doubt",
        },
    alerts === 0
      ? null
      : {
          figure: countText(alerts),
          words: are(alerts, "alert of a monitor", "alerts of monitors"),
          to: "/settings",
          search: { tab: "alerts" },
          tone: "hold",
          icon: "bell",
        },
    dead_messages === 0
      ? null
      : {
          figure: countText(dead_messages),
          words: are(dead_messages, "message could not be delivered", "messages could not be delivered"),
          to: "/settings",
          search: { tab: "endpoints" },
          tone: "stop",
          icon: "warn",
        },
  ];
  return signs.filter((sign) => sign !== null);
}

export function Signs({ attention }: { readonly attention: Attention }) {
  const { data } = useQuery(switchQuery);
  const signs = signsOf(attention, data?.paused === true);
  if (signs.length === 0) return null;
  return (
    <ul className="grid gap-3 sm:grid-cols-[repeat(auto-fit,minmax(14rem,1fr))]">
      {signs.map(({ figure, words, to, search = {}, tone, icon }) => (
        <li key={words}>
          <Link
            to={to}
            search={search}
            className={classes("flex h-full items-start gap-3 rounded-large px-4 py-3", WASH[tone])}
          >
            <Icon name={icon} className="mt-1.5 size-5" />
            <span>
              <span className="figures block text-title font-semibold">{figure}</span>
              <span className="text-small">{words}</span>
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
