/** Sections of the card's document: headings and texts that the server decided, the same as in a terminal and a mail. */
import { Link } from "@tanstack/react-router";
import type { Card } from "../../api/approvals.ts";
import { classes } from "../../ui/classes.ts";
import { Known } from "../../ui/known.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Strange } from "../../ui/strange.tsx";
import { When } from "../../ui/when.tsx";
import { OLDER_SERVER, selectSections } from "./words.ts";

type Section = Card["sections"][number];
type Field = Section["fields"][number];
type Piece = Field["text"][number];

const PAGES = { act: "/actions/$id", apr: "/approvals/$id", wf: "/workflows/$id" } as const;

function Id({ id }: { readonly id: string }) {
  const [kind = ""] = id.split("_");
  const page = Object.hasOwn(PAGES, kind) ? PAGES[kind as keyof typeof PAGES] : null;
  if (page === null) return <Known id={id} isShort />;
  return (
    <Link to={page} params={{ id }} className="font-mono underline">
      {id.slice(0, 12)}…
    </Link>
  );
}

function Shown({ piece: { kind, text } }: { readonly piece: Piece }) {
  if (kind === "time") return <When at={text} className="text-faint" />;
  return kind === "id" ? <Id id={text} /> : <Strange text={text} as="lines" />;
}

function Row({
  field: { label, text },
  isRepeated,
}: {
  readonly field: Field;
  readonly isRepeated: boolean;
}) {
  return (
    <div className="contents">
      <dt className={classes("text-faint", isRepeated && "sr-only")}>{label}</dt>
      <dd className="col-start-1 min-w-0 break-words max-sm:mb-1 sm:col-start-2">
        {text.map((piece, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text have no names and keep their order.
          <Shown key={at} piece={piece} />
        ))}
      </dd>
    </div>
  );
}

const BORDERS: { readonly [tone in NonNullable<Section["tone"]>]?: string } = {
  red: "border-stop",
  yellow: "border-hold",
};

function SectionPanel({ section: { heading, tone, fields } }: { readonly section: Section }) {
  return (
    <Panel title={<Strange text={heading} />} className={(tone && BORDERS[tone]) ?? ""}>
      <dl className="grid grid-cols-1 gap-x-4 gap-y-2 text-small sm:grid-cols-[max-content_minmax(0,1fr)]">
        {fields.map((field, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: labels may occur more than once.
          <Row key={at} field={field} isRepeated={fields[at - 1]?.label === field.label} />
        ))}
      </dl>
    </Panel>
  );
}

type Props = { readonly card: Card; readonly parts: readonly string[] };

/** In the order of `parts`. A section that has only values is not shown here. */
export function DocumentSections({ card, parts }: Props) {
  const shown = selectSections(card, parts);
  // Once on the page, where a reader looks for the reason.
  if (shown === null) return parts.includes("why") ? <p className="text-small">{OLDER_SERVER}</p> : null;
  return shown.map((section) => <SectionPanel key={section.heading} section={section} />);
}
