/** The life of a workflow as it is drawn in the guide: where it stands, and the way that it went. */
import type { WorkflowStatus } from "../../api/workflows.ts";
import { classes } from "../../ui/classes.ts";
import { statusText, type Tone, toneOf } from "../../ui/tone.ts";
import { BOX, MOVES, PLACES, SIZE } from "./machine-layout.ts";
import { STATES } from "./status-words.ts";
import { movesOf, type Stop } from "./way.ts";

type Props = { readonly way: readonly Stop[]; readonly now: WorkflowStatus };

const WASHES: { readonly [tone in Tone]: string } = {
  plain: "fill-sunken stroke-ink",
  hold: "fill-hold-wash stroke-hold",
  go: "fill-go-wash stroke-go",
  stop: "fill-stop-wash stroke-stop",
  doubt: "fill-doubt-wash stroke-doubt",
  note: "fill-note-wash stroke-note",
};

/** Above the boxes of the upper row, below those of the lower one, beside what leads there. */
function Here({ status }: { readonly status: WorkflowStatus }) {
  const { x, y } = PLACES[status];
  const isUpper = y < SIZE.height / 3;
  const side = status === "failed" ? "end" : "start";
  const edge = side === "end" ? x + BOX.width / 2 - 4 : x - BOX.width / 2 + 4;
  return (
    <text
      x={isUpper ? x : edge}
      y={isUpper ? y - BOX.height / 2 - 8 : y + BOX.height / 2 + 15}
      textAnchor={isUpper ? "middle" : side}
      className="fill-soft text-tiny font-semibold"
    >
      it is here
    </text>
  );
}

function State({ status, now, isSeen }: { status: WorkflowStatus; now: boolean; isSeen: boolean }) {
  const { x, y } = PLACES[status];
  const unseen = isSeen ? "fill-surface stroke-edge" : "fill-transparent stroke-line";
  return (
    <g>
      <rect
        x={x - BOX.width / 2}
        y={y - BOX.height / 2}
        width={BOX.width}
        height={BOX.height}
        rx="10"
        strokeWidth={now ? 2.5 : 1.25}
        strokeDasharray={isSeen ? undefined : "4 4"}
        className={now ? WASHES[toneOf(status)] : unseen}
      />
      <text
        x={x}
        y={y + 5}
        textAnchor="middle"
        className={classes("text-small", isSeen ? "fill-ink" : "fill-faint", now && "font-semibold")}
      >
        {statusText(status)}
      </text>
      {now ? <Here status={status} /> : null}
    </g>
  );
}

function Moves({ way }: { readonly way: readonly Stop[] }) {
  const moves = movesOf(way);
  const isMade = ({ from, to }: { from: string; to: string }) => moves.has(`${from}>${to}`);
  // What was gone is drawn over what was not.
  const ordered = [...MOVES].sort((a, b) => Number(isMade(a)) - Number(isMade(b)));
  return ordered.map(({ from, to, path }) => (
    <path
      key={`${from}>${to}`}
      d={path}
      fill="none"
      strokeWidth={isMade({ from, to }) ? 2 : 1}
      markerEnd={isMade({ from, to }) ? "url(#gone)" : "url(#open)"}
      className={isMade({ from, to }) ? "stroke-ink" : "stroke-line"}
    />
  ));
}

function Arrow({ id, className }: { readonly id: string; readonly className: string }) {
  return (
    <marker
      id={id}
      viewBox="0 0 8 8"
      refX="6.500"
      refY="4"
      markerWidth="9"
      markerHeight="9"
      markerUnits="userSpaceOnUse"
      orient="auto"
    >
      <path d="M0.500 0.500 7 4 0.500 7.500z" className={className} />
    </marker>
  );
}

export function StateMachine({ way, now }: Props) {
  const seen = new Set(way.map(({ status }) => status));
  const told = way.map(({ status }) => statusText(status)).join(", then ");
  return (
    <svg
      role="img"
      aria-label={`It is ${statusText(now)}. The way it went: ${told}.`}
      viewBox={`0 0 ${SIZE.width} ${SIZE.height}`}
      textRendering="geometricPrecision"
      className="h-auto w-full max-w-4xl"
    >
      <defs>
        <Arrow id="gone" className="fill-ink" />
        <Arrow id="open" className="fill-line" />
      </defs>
      <Moves way={way} />
      {STATES.map((status) => (
        <State key={status} status={status} now={status === now} isSeen={seen.has(status)} />
      ))}
    </svg>
  );
}
