import { useEffect } from "react";

import { Problem } from "../api/client";
import { LinkUsed } from "../api/session";
import mark from "../ui/mark.svg";
import { visible } from "../words/visible";
import { UsedLink } from "./used-link";

/** Shown to a browser that is not signed in. */
export function SignIn({ trouble }: { trouble: Error | null }) {
  const status = trouble instanceof Problem ? trouble.status : null;
  const unreachable = status === 0;
  useEffect(() => {
    document.title = "Sign in · Handrail";
  }, []);
  return (
    <main className="grid h-full place-items-center p-6">
      <div className="w-full max-w-md">
        <img src={mark} alt="" className="mb-4 size-10" />
        <h1 className="text-xl font-semibold tracking-tight">{unreachable ? "Handrail is not responding" : "Sign in to Handrail"}</h1>
        {trouble instanceof LinkUsed && <UsedLink key={trouble.link} trouble={trouble} />}
        {trouble && !(trouble instanceof LinkUsed) && !unreachable && status !== 401 && (
          <p role="alert" className="mt-3 rounded-md border border-critical/40 bg-del p-3">
            {visible(trouble.message)}
          </p>
        )}
        <p className="mt-3 text-soft">
          {unreachable ? "Start it on its machine:" : "Run this on the machine where Handrail runs, and open the link it prints:"}
        </p>
        <pre className="mt-2 rounded-md border border-line bg-panel p-3">{unreachable ? "handrail up" : "handrail console"}</pre>
        {!unreachable && <p className="mt-2 text-soft">The link works once. This browser then stays signed in for 30 days.</p>}
      </div>
    </main>
  );
}
