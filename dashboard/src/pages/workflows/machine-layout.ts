/** Where the seven states and the moves between them stand in the drawing. */
import type { WorkflowStatus } from "../../api/workflows.ts";

export const SIZE = { width: 660, height: 262 } as const;
export const BOX = { width: 128, height: 42 } as const;

type Point = { readonly x: number; readonly y: number };

/** Middles of the boxes. */
export const PLACES: { readonly [status in WorkflowStatus]: Point } = {
  initialized: { x: 70, y: 52 },
  executing: { x: 246, y: 52 },
  settling: { x: 422, y: 52 },
  completed: { x: 590, y: 52 },
  awaiting_approval: { x: 156, y: 164 },
  rolling_back: { x: 336, y: 164 },
  failed: { x: 590, y: 164 },
};

export type Move = { readonly from: WorkflowStatus; readonly to: WorkflowStatus; readonly path: string };

const move = (from: WorkflowStatus, to: WorkflowStatus, path: string): Move => ({ from, to, path });

/** Every move that exists. Those that go both ways stand side by side. */
export const MOVES: readonly Move[] = [
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
