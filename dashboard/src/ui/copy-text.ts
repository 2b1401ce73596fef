/** Copying. Browsers keep the clipboard from pages on plain `http` of another machine: there it is done as it was before. */

/** Out of a box that is selected: in the dialog, where one is in front, since nothing behind it can be. */
function copyBySelecting(text: string): boolean {
  const before = document.activeElement;
  const box = document.createElement("textarea");
  box.value = text;
  box.readOnly = true;
  box.className = "sr-only";
  (document.querySelector("dialog[open]") ?? document.body).append(box);
  box.select();
  const isCopied = document.execCommand("copy");
  box.remove();
  if (before instanceof HTMLElement) before.focus();
  return isCopied;
}

/** False where the browser allows neither: whoever asked has to be told. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelecting(text);
  }
}

export const NOT_COPIED = "The browser does not let this page copy: select the text, and copy it yourself.";
