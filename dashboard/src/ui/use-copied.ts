import { useState } from "react";
import { copyText, NOT_COPIED } from "./copy-text.ts";
import { toast } from "./toaster.tsx";

const TOLD_MS = 1_500;

/** Copies, and says for a moment that it was done. */
export function useCopied(text: string): { readonly isCopied: boolean; readonly copy: () => Promise<void> } {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    if (!(await copyText(text))) return toast(NOT_COPIED, "stop");
    setCopied(true);
    window.setTimeout(() => setCopied(false), TOLD_MS);
  };
  return { isCopied, copy };
}
