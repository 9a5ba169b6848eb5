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
    // While a machine still looks, the question has an id and is not there yet.
    enabled: call.approval_id !== null && call.status !== "pending",
    retry: false,
  });
  return data;
}

/** Who has let it pass or not, where and when. */
export function Decision({ call }: { call: RecordView }) {
  const { name } = useSession();
  const question = useQuestion(call);
  if (question?.status === "pending") {
    return (
      <p>
        Nobody yet.{" "}
        <Link href={`/approvals/${question.approval_id}`} className="text-accent underline underline-offset-2">
          Decide it
        </Link>
      </p>
    );
  }
  if (question && question.status !== "withdrawn") {
    const reach = call.scope === "class" ? " It reaches to the whole class." : call.scope === "session" ? " It reaches to the whole session." : "";
    return (
      <p className="[overflow-wrap:anywhere]">
        {sentence(question, name)}
        {reach}
      </p>
    );
  }
  const at = call.approved_at ? ` at ${moment(call.approved_at)}` : "";
  if (call.approved_by === "policy") return <p>The rules let it pass{at}; nobody had to be asked.</p>;
  if (call.approved_by) {
    return (
      <p>
        {call.approved_by.startsWith("grt_") ? "An earlier yes let it pass" : "Let pass"}
        {at}: <Code>{call.approved_by}</Code>
      </p>
    );
  }
  if (call.error_type === "denied") return <p className="[overflow-wrap:anywhere]">It was refused without asking: {visible(call.error ?? "")}</p>;
  if (question) return <p>{sentence(question, name)}</p>;
  return <p className="text-soft">There was nothing to decide.</p>;
}
