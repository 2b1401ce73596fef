/** What people ask before they decide, and what they are answered. It decides nothing. */
import { type RefObject, type SubmitEvent, useState } from "react";
import { type Approval, useComment } from "../../api/approvals.ts";
import { countText } from "../../format/amounts.ts";
import { Button } from "../../ui/button.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Failure } from "../../ui/states.tsx";
import { Strange } from "../../ui/strange.tsx";
import { Foldable } from "../../ui/values/foldable.tsx";
import { FoldsProvider } from "../../ui/values/folds.tsx";
import { When } from "../../ui/when.tsx";
import { useKeptText } from "./use-kept-text.ts";
import { personName } from "./words.ts";

type Comment = Approval["comments"][number];

function Said({ comment: { by, text, category, at } }: { readonly comment: Comment }) {
  const isAgent = by.startsWith("agent:") || by.startsWith("service:");
  return (
    <li
      className={
        isAgent
          ? "rounded-base border border-dashed border-edge px-3 py-2"
          : "rounded-base bg-sunken px-3 py-2"
      }
    >
      <p className="flex flex-wrap items-baseline gap-2 text-small">
        <Strange text={personName(by)} className="font-semibold" />
        {isAgent ? <span className="text-tiny text-hold">the agent, not checked</span> : null}
        {category === undefined ? null : <span className="text-tiny text-soft">{category}</span>}
        <When at={at} className="text-tiny text-faint" />
      </p>
      <Foldable text={text}>{(shown) => <Strange text={shown} as="lines" />}</Foldable>
    </li>
  );
}

/** The latest are what people answer to. */
const LATEST = 10;

/** Their folds are their own: to open all that runs is not to open all that was ever said. */
function Conversation({ comments }: { readonly comments: readonly Comment[] }) {
  const [isWhole, setWhole] = useState(false);
  const earlier = Math.max(0, comments.length - LATEST);
  return (
    <FoldsProvider>
      {earlier === 0 ? null : (
        <button
          type="button"
          aria-expanded={isWhole}
          onClick={() => setWhole(!isWhole)}
          className="min-h-9 w-full rounded-base border border-dashed border-edge bg-sunken px-3 text-small font-semibold text-soft hover:text-ink"
        >
          {isWhole ? "Fold the earlier ones again" : `${countText(earlier)} earlier: show all`}
        </button>
      )}
      <ul className="flex flex-col gap-2">
        {(isWhole ? comments : comments.slice(-LATEST)).map((comment) => (
          <Said key={`${comment.at} ${comment.by}`} comment={comment} />
        ))}
      </ul>
    </FoldsProvider>
  );
}

type BoxProps = { readonly approval: Approval; readonly box: RefObject<HTMLTextAreaElement | null> };

function CommentBox({ approval, box }: BoxProps) {
  const [text, setText] = useKeptText(approval, "comment");
  const comment = useComment(approval.request_id);
  const send = (event: SubmitEvent) => {
    event.preventDefault();
    if (text.trim() === "") return;
    comment.mutate(text.trim(), { onSuccess: () => setText("") });
  };
  return (
    <form onSubmit={send} className="flex flex-col gap-2">
      <label htmlFor="comment" className="text-small font-semibold">
        Ask for more
      </label>
      <textarea
        id="comment"
        ref={box}
        rows={2}
        maxLength={10_000}
        value={text}
        placeholder="What do you need to know before you decide? Whoever asked is told."
        onChange={({ target }) => setText(target.value)}
        className="w-full rounded-base border border-edge bg-surface px-3 py-2 placeholder:text-faint"
      />
      {comment.error === null ? null : <Failure error={comment.error} />}
      <Button
        type="submit"
        size="small"
        icon="comment"
        className="self-end"
        isBusy={comment.isPending}
        disabled={text.trim() === ""}
      >
        {comment.isPending ? "Sending…" : "Send"}
      </Button>
    </form>
  );
}

type Props = BoxProps & { readonly canWrite: boolean };

export function CommentsPanel({ approval, box, canWrite }: Props) {
  const { comments } = approval;
  if (!canWrite && comments.length === 0) return null;
  return (
    <Panel title="Questions and answers" aside={comments.length === 0 ? undefined : `${comments.length}`}>
      <div className="flex flex-col gap-4">
        {comments.length === 0 ? null : <Conversation comments={comments} />}
        {canWrite ? <CommentBox approval={approval} box={box} /> : null}
      </div>
    </Panel>
  );
}
