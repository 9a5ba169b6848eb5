import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { pageKey } from "../api/key";
import { endSignIn, type LinkUsed } from "../api/session";
import { Button } from "../ui/button";
import { visible } from "../words/visible";

/** Says that another browser has used a link, and offers to end that browser's sign-in. */
export function UsedLink({ trouble }: { trouble: LinkUsed }) {
  const queries = useQueryClient();
  const [state, setState] = useState<"asking" | "ending" | "ended">("asking");
  const [failure, setFailure] = useState<string | null>(null);

  async function end() {
    setState("ending");
    try {
      await endSignIn(trouble.link);
      setState("ended");
      setFailure(null);
    } catch (error) {
      setState("asking");
      setFailure(error instanceof Error ? error.message : String(error));
    }
  }

  return (
    <div role="alert" className="mt-3 rounded-md border border-critical/40 bg-del p-3">
      {state === "ended" ? (
        <p>That sign-in has ended. The browser that used the link is signed out.</p>
      ) : (
        <>
          <p className="break-words">{visible(trouble.message)}</p>
          <Button look="danger-solid" className="mt-3" disabled={state === "ending"} onClick={() => void end()}>
            That was not me: end that sign-in
          </Button>
        </>
      )}
      {failure !== null && <p className="mt-2">{visible(failure)}</p>}
      {pageKey() !== null && (
        <Button className="mt-3 ml-2" onClick={() => void queries.refetchQueries({ queryKey: ["session"] })}>
          Continue to the console
        </Button>
      )}
    </div>
  );
}
