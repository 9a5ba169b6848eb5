import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import { Problem } from "../api/client";
import { signIn } from "../api/session";
import { go } from "../router";
import mark from "../ui/mark.svg";

/** The page of whoever is not signed in; with a link it signs in by itself. */
export function SignIn({ link, trouble }: { link: string; trouble: Error | null }) {
  const queries = useQueryClient();
  const [refused, setRefused] = useState<string | null>(null);
  useEffect(() => {
    if (!link) return;
    // Good once: it must not stay in the address, nor in what the browser remembers.
    history.replaceState(null, "", location.pathname);
    signIn(link)
      .then((session) => {
        queries.setQueryData(["session"], session);
        go("/approvals", { replace: true });
      })
      .catch((error: Error) => setRefused(error.message));
  }, [link, queries]);
  const unreachable = trouble instanceof Problem && trouble.status === 0;
  return (
    <main className="grid h-full place-items-center p-6">
      <div className="w-full max-w-md">
        <img src={mark} alt="" className="mb-4 size-10" />
        <h1 className="text-xl font-semibold tracking-tight">
          {link && !refused ? "Signing in…" : unreachable ? "Handrail does not answer" : "Sign in to Handrail"}
        </h1>
        {refused && (
          <p role="alert" className="mt-3 rounded-md border border-critical/40 bg-del p-3">
            {refused}
          </p>
        )}
        {!(link && !refused) && (
          <>
            <p className="mt-3 text-soft">
              {unreachable ? "Start it on its machine:" : "On the machine where Handrail runs, type this, and open the link it prints:"}
            </p>
            <pre className="mt-2 rounded-md border border-line bg-panel p-3">
              {unreachable ? "handrail up" : "handrail console"}
            </pre>
            {!unreachable && <p className="mt-2 text-soft">The link is good once. This browser then stays signed in for 30 days.</p>}
          </>
        )}
      </div>
    </main>
  );
}
