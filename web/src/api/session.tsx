import { useQuery } from "@tanstack/react-query";
import { createContext, useContext, type ReactNode } from "react";

import { ask } from "./client";
import { dropKey, keepKey, pageKey } from "./key";
import type { ProjectView, SignedInResponse, WelcomeResponse } from "./types";

/** Who is signed in, which project is shown, and how far this clock is from the server's. */
export interface Session {
  /** As grants name who has given them. */
  userId: string;
  /** As answers name who has given them. */
  name: string;
  version: string;
  project: ProjectView;
  projects: ProjectView[];
  /** Milliseconds to add to this machine's time to have the server's. */
  skewMs: number;
}

const CHOSEN = "handrail.project";

const Here = createContext<Session | null>(null);

export function SessionProvider({ session, children }: { session: Session; children: ReactNode }) {
  return <Here.Provider value={session}>{children}</Here.Provider>;
}

export function useSession(): Session {
  const session = useContext(Here);
  if (!session) throw new Error("no session here");
  return session;
}

/** The address of something in the project that is shown. */
export function usePath(): (path: string) => string {
  const { project } = useSession();
  return (path) => `/my/projects/${project.project_id}${path}`;
}

export function useSignedIn() {
  return useQuery({
    queryKey: ["session"],
    queryFn: async () => welcome(await ask<SignedInResponse>("GET", "/console/session")),
    // With a link in the address nobody needs to ask: it signs in first.
    enabled: location.hash.length < 2,
    retry: false,
    staleTime: Infinity,
  });
}

export async function signIn(link: string): Promise<Session> {
  const told = await ask<WelcomeResponse>("POST", "/console/session", { link });
  keepKey(told.page_key);
  return welcome(told);
}

export async function signOut(): Promise<void> {
  await ask("DELETE", "/console/session");
  dropKey(pageKey());
}

export function choose(projectId: string): void {
  localStorage.setItem(CHOSEN, projectId);
}

function welcome(told: SignedInResponse): Session {
  const chosen = localStorage.getItem(CHOSEN);
  const project = told.projects.find((one) => one.project_id === chosen) ?? told.projects.at(-1);
  if (!project) throw new Error("There is no project yet; `handrail init` makes one.");
  return {
    userId: told.user_id,
    name: told.name,
    version: told.version,
    project,
    projects: told.projects,
    skewMs: new Date(told.now).getTime() - Date.now(),
  };
}
