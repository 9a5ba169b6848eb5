import { useQuery } from "@tanstack/react-query";

import { ask } from "../api/client";
import { usePath, useSession } from "../api/session";
import type { ApprovalView, RecordView } from "../api/types";
import { sentence } from "../approvals/answered";
import { Link } from "../router";
import { Code } from "../ui/code";
import { moment } from "../words/time";
import { visible } from "../words/visible";

export function useQuestion(call: RecordView): ApprovalView | undefined {
  const path = usePath();
  const { project } = useSession();
  const { data } = useQuery({
    queryKey: ["approval", project.project_id, call.approval_id, call.status],
    queryFn: () => ask<ApprovalView>("GET", path(`/approvals/${call.approval_id}`)),
    // While the machine is still checking, the request has an id but cannot be read yet.
    enabled: call.approval_id !== null && call.status !== "pending",
    retry: false,
  });
  return data;
}

const REACH: Record<string, string> = {
  class: "It covers all calls of this kind in the session.",
  project: "It covers all calls of this kind by this agent in the project.",
  session: "It covers everything in this session.",
};

/** Who allowed or refused a call, from where and when. */
export function Decision({ call }: { call: RecordView }) {
  const { name } = useSession();
  const question = useQuestion(call);
  if (question?.status === "pending") {
    return (
      <p>
        Waiting for you.{" "}
        <Link href={`/approvals/${question.approval_id}`} className="text-accent underline underline-offset-2">
          Decide now
        </Link>
      </p>
    );
  }
  if (question?.status === "expired") return <p>Expired (no answer in time).</p>;
  if (question && question.status !== "withdrawn") {
    const reach = call.scope && call.scope in REACH ? ` ${REACH[call.scope]}` : "";
    return (
      <p className="[overflow-wrap:anywhere]">
        {sentence(question, name)}
        {reach}
      </p>
    );
  }
  const at = call.approved_at ? ` at ${moment(call.approved_at)}` : "";
  if (call.approved_by === "policy") return <p>Allowed by the rules{at}, without asking.</p>;
  if (call.approved_by) {
    return (
      <p>
        {call.approved_by.startsWith("grt_") ? "Allowed by an earlier approval" : "Allowed"}
        {at}: <Code>{call.approved_by}</Code>
      </p>
    );
  }
  if (call.error_type === "denied") return <p className="[overflow-wrap:anywhere]">Refused by a rule, without asking: {visible(call.error ?? "")}</p>;
  if (call.error_type === "too_many_questions") return <p>Refused: this agent has too many open questions.</p>;
  if (question) return <p>{sentence(question, name)}</p>;
  if (call.error_type === "validation") return <p>You were not asked: the parameters are invalid.</p>;
  return <p className="text-soft">{call.completed_at ? "You were not asked: the call could not run." : "Not decided yet."}</p>;
}
