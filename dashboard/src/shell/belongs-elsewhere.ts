/** A box to tick is no place to type in: keys count there as they do on the page. */
const TYPING = "input:not([type=checkbox]), textarea, select, [contenteditable], [role=textbox]";

/** Somebody types, a dialog is in front, or the key belongs to the browser. */
export function belongsElsewhere(event: KeyboardEvent): boolean {
  const isModified = event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented;
  const isTyped = event.target instanceof Element && event.target.closest(TYPING) !== null;
  return isModified || isTyped || document.querySelector("dialog[open]") !== null;
}
