import type { UseQueryResult } from "@tanstack/react-query";
import { CloudOff } from "lucide-react";
import type { ReactNode } from "react";

import { visible } from "../words/visible";
import { Button } from "./button";
import { Empty } from "./empty";

/** What the server has told; until then that it is being asked, and otherwise why there is nothing. */
export function Answer<T>({ to, children }: { to: UseQueryResult<T>; children: (told: T) => ReactNode }) {
  if (to.data !== undefined) return children(to.data);
  if (to.isError) {
    return (
      <Empty icon={<CloudOff size={20} />} title="This could not be loaded">
        <p role="alert">{visible(to.error.message)}</p>
        <Button className="mt-4" onClick={() => void to.refetch()}>
          Try again
        </Button>
      </Empty>
    );
  }
  return <Lines />;
}

function Lines() {
  return (
    <div role="status" className="space-y-3 motion-safe:animate-pulse">
      <span className="sr-only">Loading…</span>
      {[80, 65, 72, 50].map((width) => (
        <div key={width} className="h-14 rounded-lg border border-line bg-panel p-4" aria-hidden>
          <div className="h-3 rounded bg-raised" style={{ width: `${width}%` }} />
        </div>
      ))}
    </div>
  );
}
