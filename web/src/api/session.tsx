import { useQuery, useQueryClient } from "@tanstack/react-query";
import { createContext, useContext, useEffect, type ReactNode } from "react";

import { go } from "../router";
import { ask, Problem, SESSION } from "./client";
import { dropKey, keepKey, pageKey, watchKey } from "./key";
import { hearTime } from "./time";
import type { ProjectView, SignedInResponse, WelcomeResponse } from "./types";

/** Who is signed in, and which project is shown. */
export interface Session {
  /** As grants name who has given them. */
  userId: string;
  /** As answers name who has given them. */
  name: string;
  /** An approver answers the requests of one project. Everything else belongs to its owner. */
  role: SignedInResponse["role"];
  version: string;
  project: ProjectView;
  projects: ProjectView[];
}

/** Another browser has signed in with the link that was opened here. */
export class LinkUsed extends Error {
  constructor(
    readonly link: string,
    detail: string,
  ) {
    super(detail);
  }
}

const CHOSEN = "handrail.project";
const PROJECTS_MS = 10_000;
/** With several projects: their badges have no stream. */
const OTHERS_MS = 2_000;

const Here = createContext<Session | null>(null);

export function SessionProvider({ session, children }: { session: Session; children: ReactNode }) {
  return <Here.Provider value={session}>{children}</Here.Provider>;
}

export function useSession(): Session {
  const session = useContext(Here);
  if (!session) throw new Error("no session here");
  return session;
}

/** The address of something in a project. */
export function pathIn(project: string, path: string): string {
  return `/my/projects/${project}${path}`;
}

/** The address of something in the project that is shown. */
export function usePath(): (path: string) => string {
  const { project } = useSession();
  return (path) => pathIn(project.project_id, path);
}

export function useSignedIn() {
  return useQuery({ queryKey: ["session"], queryFn: enter, retry: false, staleTime: Infinity });
}

/** A link that is opened here, what another tab does, and what the server says; mounted once. */
export function useSigningInAndOut(): void {
  const queries = useQueryClient();
  useEffect(() => {
    const enterAgain = () => void queries.refetchQueries({ queryKey: ["session"] });
    const leave = () => {
      // Nothing of what was shown or written stays behind for whoever sits down next.
      sessionStorage.clear();
      queries.setQueryData(["session"], null);
      queries.removeQueries({ predicate: (one) => one.queryKey[0] !== "session" });
    };
    const stop = watchKey((isKept) => (isKept ? enterAgain() : leave()));
    const followed = () => linkHere() && enterAgain();
    window.addEventListener("hashchange", followed);
    return () => {
      stop();
      window.removeEventListener("hashchange", followed);
    };
  }, [queries]);
}

/** By the link in the address; where there is none, or it is used up, as who this browser knows. */
async function enter(): Promise<Session> {
  const link = linkHere();
  if (!link) return welcome(await ask<SignedInResponse>("GET", SESSION));
  // Good once: it must not stay in the address, nor in what the browser remembers.
  go("/approvals", { replace: true });
  try {
    const told = await ask<WelcomeResponse>("POST", SESSION, { link });
    keepKey(told.page_key);
    choose(told.project_id);
    return welcome(told);
  } catch (error) {
    // Shown also to who is signed in: another browser may have been faster with a stolen link.
    if (error instanceof Problem && error.type === "urn:handrail:link-used") throw new LinkUsed(link, error.message);
    // It says more than that nobody is signed in.
    const refused = error instanceof Problem && error.status === 401 ? new Error(error.message) : error;
    if (pageKey() === null) throw refused;
    return ask<SignedInResponse>("GET", SESSION).then(welcome, () => Promise.reject(refused));
  }
}

/** Anything else behind the `#` is a place on a page. */
function linkHere(): string | null {
  const link = location.hash.slice(1);
  return link.startsWith("hr_") ? link : null;
}

export async function signOut(): Promise<void> {
  await ask("DELETE", SESSION);
  dropKey(pageKey());
}

/** Ends the sign-in that a used link was exchanged for. */
export async function endSignIn(link: string): Promise<void> {
  await ask("POST", `${SESSION}/end`, { link });
}

/** For this tab; and for those to come, until they choose another. */
function choose(projectId: string): void {
  sessionStorage.setItem(CHOSEN, projectId);
  localStorage.setItem(CHOSEN, projectId);
}

/** Shows another project, on whatever page this is. */
export function useSwitch(): (projectId: string) => void {
  const queries = useQueryClient();
  return (projectId) => {
    choose(projectId);
    void queries.invalidateQueries({ queryKey: ["session"] });
  };
}

/** All projects, and how many requests wait in each. The stream is that of the shown project alone, so this is polled. */
export function useProjects(): ProjectView[] {
  const { projects } = useSession();
  const { data } = useQuery({
    queryKey: ["projects"],
    queryFn: async () => {
      const told = await ask<SignedInResponse>("GET", SESSION);
      hearTime(told.now);
      return told.projects;
    },
    initialData: projects,
    refetchInterval: ({ state }) => ((state.data?.length ?? 0) > 1 ? OTHERS_MS : PROJECTS_MS),
    staleTime: OTHERS_MS,
  });
  return data;
}

function welcome(told: SignedInResponse): Session {
  hearTime(told.now);
  const chosen = sessionStorage.getItem(CHOSEN) ?? localStorage.getItem(CHOSEN);
  const project = told.projects.find((one) => one.project_id === chosen) ?? told.projects.at(-1);
  if (!project) throw new Error("There is no project yet; `handrail init` creates one.");
  return {
    userId: told.user_id,
    name: told.name,
    role: told.role,
    version: told.version,
    project,
    projects: told.projects,
  };
}
