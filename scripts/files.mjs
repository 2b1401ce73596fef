import fs from "node:fs";
import path from "node:path";

/** Every file below a folder, as a path with forward slashes, sorted. */
export function filesBelow(folder) {
  if (!fs.existsSync(folder)) return [];
  const files = fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const place = path.posix.join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(place) : [place];
  });
  return files.sort();
}
