import { useSyncExternalStore } from "react";
import { type Connection, connectionNow, onConnection } from "./live.ts";

export const useConnection = (): Connection => useSyncExternalStore(onConnection, connectionNow);
