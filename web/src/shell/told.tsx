import { useCallback, useState } from "react";

import { useEvent } from "../api/stream";
import type { ApprovalRequest } from "../api/types";
import { visible } from "../words/visible";

/** Announces new requests to screen readers. */
export function Told() {
  const [words, setWords] = useState("");
  useEvent(
    "tool.approval_request",
    useCallback((asked: ApprovalRequest) => {
      if (asked.status === "pending") setWords(`Waiting for you, ${asked.risk_level.toLowerCase()}: ${visible(asked.description)}`);
    }, []),
  );
  return (
    <p role="status" className="as-code sr-only">
      {words}
    </p>
  );
}
