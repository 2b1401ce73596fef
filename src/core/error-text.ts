/** What an error says, as the journal can keep it: valid Unicode, never empty, and not longer than people read. */
const MOST_CHARACTERS = 2_000;

function said(error: unknown): string {
  try {
    const text = error instanceof Error ? error.message : String(error);
    return typeof text === "string" && text !== "" ? text : "no reason given";
  } catch {
    return "something that cannot be read";
  }
}

/** `clean` takes out what nobody may see; it comes before the cut, which could leave half of it. */
export function errorText(error: unknown, clean: (text: string) => string = (text) => text): string {
  const text = clean(said(error)).toWellFormed();
  if (text.length <= MOST_CHARACTERS) return text;
  return `${text.slice(0, MOST_CHARACTERS).toWellFormed()}… (${text.length} characters)`;
}

const MOST_SHOWN = 100;

/** A value that was wrong, for a message about it: whatever it is, and however long. */
export function shown(value: unknown): string {
  const text = (value === "" ? "" : said(value)).toWellFormed();
  return text.length <= MOST_SHOWN ? text : `${text.slice(0, MOST_SHOWN).toWellFormed()}…`;
}
