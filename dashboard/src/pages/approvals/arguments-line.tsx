/** The beginning of the arguments: on one line, or in full but for what is too long for a list. */
import { countText } from "../../format/amounts.ts";
import { piecesOf } from "../../format/arguments-line.ts";
import { Strange } from "../../ui/strange.tsx";

const MOST = 8;
const LONG = 300;

type Props = { readonly args: string; readonly isWhole?: boolean };

function Value({ text, isWhole }: { readonly text: string; readonly isWhole: boolean }) {
  if (!isWhole) return <Strange text={text} className="whitespace-nowrap text-ink" />;
  const left = text.length - LONG;
  return (
    <>
      <Strange text={left > 0 ? text.slice(0, LONG) : text} className="text-ink" />
      {left > 0 ? (
        <span className="font-semibold text-hold">
          {" "}
          … {countText(left)} characters more: open it to read them
        </span>
      ) : null}
    </>
  );
}

export function ArgumentsLine({ args, isWhole = false }: Props) {
  const pieces = piecesOf(args);
  if (pieces === undefined) return <Value text={args} isWhole={isWhole} />;
  if (pieces.length === 0) return <span className="text-faint">no arguments</span>;
  return pieces.slice(0, isWhole ? pieces.length : MOST).map(({ name, value }) => (
    <span key={name} className={isWhole ? "block" : "mr-3"}>
      <Strange text={name} className="whitespace-nowrap text-faint" />{" "}
      <Value text={value} isWhole={isWhole} />
    </span>
  ));
}
