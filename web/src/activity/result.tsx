import type { RecordView } from "../api/types";
import { Notice } from "../ui/notice";
import { Output } from "../ui/output";
import { visible } from "../words/visible";

/** The output of a call as a terminal would show it, and the error if it failed. */
export function Result({ call }: { call: RecordView }) {
  const text = outputOf(call.result);
  return (
    <div className="space-y-2">
      {call.error && (
        <Notice bad>
          {visible(call.error, "\n")}
          {call.error_type && <span className="ml-2 font-mono text-xs text-soft">{visible(call.error_type)}</span>}
        </Notice>
      )}
      {text !== null && <Output text={text} label="Output" />}
      {call.result_removed_at && (
        <p className="text-soft">The result was deleted on {call.result_removed_at.slice(0, 10)} by the retention settings.</p>
      )}
      {text === null && !call.error && !call.result_removed_at && <p className="text-soft">No result yet.</p>}
      {call.suspicion && <Suspicion found={call.suspicion} />}
      {call.late_result && (
        <>
          <p className="text-soft">Reported after the call had ended:</p>
          <Output text={outputOf(call.late_result) ?? ""} label="Late result" />
        </>
      )}
    </div>
  );
}

function outputOf(result: Record<string, unknown> | null): string | null {
  if (result === null) return null;
  for (const name of ["output", "stdout", "content"]) {
    const text = result[name];
    if (typeof text === "string" && text) return text;
  }
  const rest = Object.fromEntries(Object.entries(result).filter(([name, value]) => name !== "box" && value !== ""));
  return Object.keys(rest).length > 0 ? JSON.stringify(rest, null, 2) : "";
}

function Suspicion({ found }: { found: Record<string, unknown> }) {
  const findings = Array.isArray(found["findings"]) ? (found["findings"] as { line?: number; reason?: string }[]) : [];
  return (
    <Notice>
      <p className="font-medium">This result contains text that reads like instructions to the agent</p>
      <ul className="text-soft">
        {findings.map((one, index) => (
          <li key={index}>{visible(`line ${one.line}: ${one.reason}`)}</li>
        ))}
      </ul>
    </Notice>
  );
}
