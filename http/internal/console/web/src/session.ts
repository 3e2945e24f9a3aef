import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Client, Resource } from "./api";

// A Session is who works with which server, and the kinds of objects that it has.
export interface Session {
  client: Client;
  user: { username: string; groups: string[] };
  resources: Resource[];
}

export const Session = createContext<Session | null>(null);

export function useSession(): Session {
  return useContext(Session)!;
}
