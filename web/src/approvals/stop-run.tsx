import { useState } from "react";

import { visible } from "../words/visible";
import { useStopping } from "./answer";
import { StopDialog } from "./stop-dialog";

/** Ends a run, whether it has open requests or not. */
export function StopRun({ session }: { session: string }) {
  const [asks, setAsks] = useState(false);
  const [told, setTold] = useState("");
  const stopping = useStopping();
  const stop = async () => {
    setTold("Stopped.");
    await stopping(session).catch((error: unknown) => setTold(error instanceof Error ? error.message : String(error)));
    setAsks(false);
  };
  return (
    <>
      <button type="button" onClick={() => setAsks(true)} className="text-xs text-accent underline underline-offset-2">
        stop the run…
      </button>
      <span role="status" className="text-xs text-soft">
        {visible(told)}
      </span>
      <StopDialog open={asks} session={session} onClose={() => setAsks(false)} onStop={() => void stop()} />
    </>
  );
}
