import { useCallback, useState } from "react";

import { useEvent } from "../api/stream";
import type { ApprovalRequest } from "../api/types";
import { visible } from "../words/visible";

/** Says aloud, to those who listen to a page, what has come to wait. */
export function Told() {
  const [words, setWords] = useState("");
  useEvent(
    "tool.approval_request",
    useCallback((asked: ApprovalRequest) => {
      if (asked.status === "pending") setWords(`Waits for you, ${asked.risk_level.toLowerCase()}: ${visible(asked.description)}`);
    }, []),
  );
  return (
    <p role="status" className="as-code sr-only">
      {words}
    </p>
  );
}
