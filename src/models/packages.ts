/** The AI SDK's packages are optional: they are loaded only by those who name such a model. */
import { HoldpointError } from "../kernel/errors.ts";

export async function loadPackage<Module>(name: string, load: () => Promise<unknown>): Promise<Module> {
  try {
    return (await load()) as Module;
  } catch (error) {
    throw missing(name, error);
  }
}

function missing(name: string, cause: unknown): HoldpointError {
  const wanted = name === "ai" ? "ai" : `ai ${name}`;
  const next = `Run \`npm install ${wanted}\` beside holdpoint.`;
  return new HoldpointError("package_missing", `The package "${name}" is not installed.`, { cause, next });
}
