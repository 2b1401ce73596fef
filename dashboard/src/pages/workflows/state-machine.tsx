/** The life of a workflow as it is drawn in the guide: where it stands, and the way that it went. */
import type { WorkflowStatus } from "../../api/workflows.ts";
import { classes } from "../../ui/classes.ts";
import { statusText, type Tone, toneOf } from "../../ui/tone.ts";
import { type Layout, LYING, UPRIGHT } from "./machine-layout.ts";
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

type OfLayout = { readonly layout: Layout };

/** Above the boxes of the upper row of a lying drawing, below the others, beside what leads there. */
function Here({ status, layout: { name, size, box, places } }: OfLayout & { status: WorkflowStatus }) {
  const { x, y } = places[status];
  const isLying = name === "lying";
  const isUpper = isLying && y < size.height / 3;
  const side = isLying && status === "failed" ? "end" : "start";
  const edge = side === "end" ? x + box.width / 2 - 4 : x - box.width / 2 + 4;
  return (
    <text
      x={isUpper ? x : edge}
      y={isUpper ? y - box.height / 2 - 8 : y + box.height / 2 + 15}
      textAnchor={isUpper ? "middle" : side}
      className="fill-soft text-tiny font-semibold"
    >
      it is here
    </text>
  );
}

type StateProps = OfLayout & {
  readonly status: WorkflowStatus;
  readonly now: boolean;
  readonly isSeen: boolean;
};

function State({ status, now, isSeen, layout }: StateProps) {
  const { box } = layout;
  const { x, y } = layout.places[status];
  const unseen = isSeen ? "fill-surface stroke-edge" : "fill-transparent stroke-line";
  return (
    <g>
      <rect
        x={x - box.width / 2}
        y={y - box.height / 2}
        width={box.width}
        height={box.height}
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
      {now ? <Here status={status} layout={layout} /> : null}
    </g>
  );
}

const markOf = ({ name }: Layout, isMade: boolean): string => `${name}-${isMade ? "gone" : "open"}`;

function Moves({ way, layout }: OfLayout & { readonly way: readonly Stop[] }) {
  const moves = movesOf(way);
  const isMade = ({ from, to }: { from: string; to: string }) => moves.has(`${from}>${to}`);
  // What was gone is drawn over what was not.
  const ordered = [...layout.moves].sort((a, b) => Number(isMade(a)) - Number(isMade(b)));
  return ordered.map(({ from, to, path }) => (
    <path
      key={`${from}>${to}`}
      d={path}
      fill="none"
      strokeWidth={isMade({ from, to }) ? 2 : 1}
      markerEnd={`url(#${markOf(layout, isMade({ from, to }))})`}
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

function Drawing({ way, now, layout, className }: Props & OfLayout & { readonly className: string }) {
  const seen = new Set(way.map(({ status }) => status));
  const told = way.map(({ status }) => statusText(status)).join(", then ");
  return (
    <svg
      role="img"
      aria-label={`It is ${statusText(now)}. The way it went: ${told}.`}
      viewBox={`0 0 ${layout.size.width} ${layout.size.height}`}
      textRendering="geometricPrecision"
      className={classes("h-auto w-full", className)}
    >
      <defs>
        <Arrow id={markOf(layout, true)} className="fill-ink" />
        <Arrow id={markOf(layout, false)} className="fill-line" />
      </defs>
      <Moves way={way} layout={layout} />
      {STATES.map((status) => (
        <State key={status} {...{ status, layout }} now={status === now} isSeen={seen.has(status)} />
      ))}
    </svg>
  );
}

export function StateMachine(props: Props) {
  return (
    <>
      <Drawing {...props} layout={LYING} className="max-w-4xl max-sm:hidden" />
      <Drawing {...props} layout={UPRIGHT} className="mx-auto max-w-sm sm:hidden" />
    </>
  );
}
