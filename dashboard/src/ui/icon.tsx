/** Icons, drawn here on a grid of 20 with one weight of line. They say nothing by themselves: a label stands beside them. */
const PATHS = {
  inbox: "M3 11l2.5-7h9L17 11v5H3zM3 11h4l1.2 2.2h3.6L13 11h4",
  flow: "M4 5.5h4v4H4zM12 10.5h4v4h-4zM8 7.5h3a3 3 0 0 1 3 3",
  doubt:
    "M7.2 7.4a2.8 2.8 0 1 1 4.2 2.4c-.9.5-1.4 1-1.4 2M10 14.6v.2M10 2.5a7.5 7.5 0 1 1 0 15 7.5 7.5 0 0 1 0-15z",
  policy: "M5 2.5h7l3.5 3.5v11.5H5zM12 2.5V6h3.5M7.5 9.5h5M7.5 12h5M7.5 14.5h3",
  agent: "M4.5 7.5h11v8h-11zM10 7.5V4M10 3.2v.1M8 11v1M12 11v1M2.5 10v3M17.5 10v3",
  chart: "M3 17h14M5.5 14v-4M9 14V5M12.5 14V8M16 14v-2.5",
  settings: "M3 6h8M15 6h2M3 14h2M9 14h8M11 4v4h4V4zM5 12v4h4v-4z",
  stop: "M7 2.5h6L17.5 7v6L13 17.5H7L2.5 13V7zM7 10h6",
  nodes: "M3.5 3.5h13v4.5h-13zM3.5 12h13v4.5h-13zM6.5 5.8v.1M6.5 14.2v.1",
  home: "M3 9.5 10 3.5l7 6M5 8.5v8h10v-8M8.5 16.5v-4h3v4",
  check: "M4 10.5 8.2 14.5 16 5.5",
  cross: "M5 5l10 10M15 5 5 15",
  edit: "M3.5 16.5l.8-3.4L13 4.4l2.6 2.6-8.7 8.7zM11.5 6l2.6 2.6",
  clock: "M10 2.5a7.5 7.5 0 1 1 0 15 7.5 7.5 0 0 1 0-15zM10 6v4.2l2.8 1.8",
  search: "M8.5 3.5a5 5 0 1 1 0 10 5 5 0 0 1 0-10zM12.2 12.2 16.5 16.5",
  back: "M12 4.5 6.5 10l5.5 5.5",
  next: "M8 4.5 13.5 10 8 15.5",
  down: "M4.5 8 10 13.5 15.5 8",
  key: "M6 6.5a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7zM9.500 10h8M14 10v3.200M17.500 10v2.500",
  person: "M10 3a3.2 3.2 0 1 1 0 6.4A3.2 3.2 0 0 1 10 3zM3.5 17c.6-3.6 3.2-5.4 6.5-5.4s5.9 1.8 6.5 5.4",
  warn: "M10 3 17.5 16.5h-15zM10 8v4M10 14.1v.2",
  undo: "M4 8.5h8a4 4 0 0 1 0 8H8M4 8.5 7.5 5M4 8.5 7.5 12",
  lock: "M5 9h10v8H5zM7 9V6.5a3 3 0 0 1 6 0V9",
  copy: "M7 7h9.5v9.5H7zM13 7V3.5H3.5V13H7",
  seal: "M10 2.5l2 1.6 2.6-.1.7 2.5 2.1 1.5-1 2.4 1 2.4-2.1 1.5-.7 2.5-2.6-.1-2 1.6-2-1.6-2.6.1-.7-2.5-2.1-1.5 1-2.4-1-2.4L4.700 6.500l.7-2.5 2.600.1zM7.200 10.200l2 2 3.600-4",
  comment: "M3 4h14v9.500h-8L5.500 16.500v-3H3z",
  bell: "M5 14V9a5 5 0 0 1 10 0v5l1.500 1.500h-13zM8.500 17.500h3",
  more: "M4.500 10v.1M10 10v.1M15.500 10v.1",
  play: "M6.500 4.500v11l9-5.500z",
  link: "M8.500 11.500a3 3 0 0 0 4.200 0l2.600-2.600a3 3 0 0 0-4.200-4.200l-1 1M11.500 8.500a3 3 0 0 0-4.200 0l-2.600 2.600a3 3 0 0 0 4.200 4.200l1-1",
} as const;
export type IconName = keyof typeof PATHS;

export function Icon({
  name,
  className = "size-5",
}: {
  readonly name: IconName;
  readonly className?: string;
}) {
  return (
    <svg
      viewBox="0 0 20 20"
      className={`shrink-0 ${className}`}
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
