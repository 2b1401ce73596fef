/**
 * The process in which one system is measured: opened at the start, one window at a time when it is asked for, idle
 * between. It ends with the process that started it.
 */
import { treeCpu } from "./cpu.ts";
import { type Cpu, createRecorder, type Span, type Window } from "./recorder.ts";
import { now, type OpenSystem, type Place, type System } from "./system.ts";

export type Setup = { readonly module: string; readonly place: Place };
export type Order = Span & { readonly inFlight: number; readonly variant: string | null };
export type Reply =
  | { readonly kind: "ready"; readonly durability: string }
  | { readonly kind: "window"; readonly window: Window }
  | { readonly kind: "failed"; readonly reason: string };

const say = (reply: Reply) => process.send?.(reply);
const reasonOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);

function cpuOf(system: System): Cpu {
  const { user, system: kernel } = process.cpuUsage();
  return { driver: user + kernel, servers: treeCpu(system.servers) };
}

async function measure(system: System, { inFlight, variant, ...span }: Order): Promise<Window> {
  const recorder = createRecorder(span, { now, cpu: () => cpuOf(system) });
  await system.run({ ...recorder, inFlight, variant });
  return recorder.window();
}

async function serve({ module, place }: Setup): Promise<void> {
  const { open } = (await import(module)) as { readonly open: OpenSystem };
  const system = await open(place);
  process.on("message", async (order: Order) => {
    try {
      say({ kind: "window", window: await measure(system, order) });
    } catch (error) {
      say({ kind: "failed", reason: reasonOf(error) });
    }
  });
  process.on("disconnect", async () => {
    await system.close().catch(() => undefined);
    process.exit(0);
  });
  say({ kind: "ready", durability: system.durability });
}

await serve(JSON.parse(process.argv[2] ?? "") as Setup).catch((error: unknown) =>
  say({ kind: "failed", reason: reasonOf(error) }),
);
