/** Where the seven states and the moves between them stand in the drawing: lying, and upright for a phone. */
import type { WorkflowStatus } from "../../api/workflows.ts";

type Size = { readonly width: number; readonly height: number };
type Point = { readonly x: number; readonly y: number };

export type Move = { readonly from: WorkflowStatus; readonly to: WorkflowStatus; readonly path: string };

export type Layout = {
  readonly name: "lying" | "upright";
  readonly size: Size;
  readonly box: Size;
  /** Middles of the boxes. */
  readonly places: { readonly [status in WorkflowStatus]: Point };
  /** Every move that exists. Those that go both ways stand side by side. */
  readonly moves: readonly Move[];
};

const move = (from: WorkflowStatus, to: WorkflowStatus, path: string): Move => ({ from, to, path });

const LYING_PLACES: Layout["places"] = {
  initialized: { x: 70, y: 52 },
  executing: { x: 246, y: 52 },
  settling: { x: 422, y: 52 },
  completed: { x: 590, y: 52 },
  awaiting_approval: { x: 156, y: 164 },
  rolling_back: { x: 336, y: 164 },
  failed: { x: 590, y: 164 },
};

const LYING_MOVES: Layout["moves"] = [
  move("initialized", "executing", "M134 52 H176"),
  move("executing", "settling", "M310 52 H352"),
  move("settling", "completed", "M486 52 H520"),
  move("executing", "awaiting_approval", "M206 73 C194 98 182 112 174 137"),
  move("awaiting_approval", "executing", "M196 143 C206 120 218 106 230 79"),
  move("executing", "rolling_back", "M264 73 C276 106 288 120 298 137"),
  move("rolling_back", "executing", "M320 143 C312 112 300 98 286 79"),
  move("awaiting_approval", "rolling_back", "M220 164 H266"),
  move("rolling_back", "failed", "M400 164 H520"),
  move("executing", "failed", "M310 64 C380 94 450 124 520 150"),
  move("settling", "failed", "M462 73 C490 100 530 112 560 137"),
  move("initialized", "failed", "M70 73 V218 C70 238 82 240 100 240 H556 C582 240 590 228 590 191"),
  move("awaiting_approval", "failed", "M156 185 V202 C156 216 164 220 180 220 H544 C566 220 572 210 574 191"),
];

export const LYING: Layout = {
  name: "lying",
  size: { width: 660, height: 262 },
  box: { width: 128, height: 42 },
  places: LYING_PLACES,
  moves: LYING_MOVES,
};

const UPRIGHT_PLACES: Layout["places"] = {
  initialized: { x: 66, y: 40 },
  executing: { x: 66, y: 130 },
  settling: { x: 66, y: 220 },
  completed: { x: 66, y: 310 },
  awaiting_approval: { x: 226, y: 130 },
  rolling_back: { x: 226, y: 220 },
  failed: { x: 226, y: 310 },
};

const UPRIGHT_MOVES: Layout["moves"] = [
  move("initialized", "executing", "M66 61 V103"),
  move("executing", "settling", "M66 151 V193"),
  move("settling", "completed", "M66 241 V283"),
  move("executing", "awaiting_approval", "M126 123 H159"),
  move("awaiting_approval", "executing", "M166 137 H133"),
  move("executing", "rolling_back", "M104 151 C122 172 138 192 160 206"),
  move("rolling_back", "executing", "M186 199 C168 180 146 168 122 157"),
  move("awaiting_approval", "rolling_back", "M226 151 V193"),
  move("rolling_back", "failed", "M226 241 V283"),
  move("executing", "failed", "M84 151 C100 180 132 180 134 210 V280 C134 296 142 304 159 304"),
  move("settling", "failed", "M112 241 C120 262 132 306 159 318"),
  move("initialized", "failed", "M126 40 H292 C304 40 308 46 308 56 V300 C308 314 302 316 293 316"),
  move("awaiting_approval", "failed", "M286 130 C296 130 298 134 298 142 V290 C298 301 297 304 293 304"),
];

export const UPRIGHT: Layout = {
  name: "upright",
  size: { width: 316, height: 356 },
  box: { width: 120, height: 42 },
  places: UPRIGHT_PLACES,
  moves: UPRIGHT_MOVES,
};
