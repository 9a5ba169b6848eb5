import { usePlace } from "../router";
import { Conversation } from "./conversation";
import { NewTalk } from "./new-talk";
import { Sessions } from "./sessions";
import { useTalks } from "./talk";

/** Conversations on the left, one of them beside; on a narrow screen the list with a composer below, or one conversation. */
export default function ChatPage() {
  const { id } = usePlace();
  const { data: talks } = useTalks();
  const title = talks?.find((one) => one.session_id === id)?.title ?? "Conversation";
  return (
    <main className={`grid h-full min-h-0 md:grid-cols-[17rem_minmax(0,1fr)] ${id ? "" : "max-md:grid-rows-[minmax(6rem,1fr)_auto]"}`}>
      <Sessions talks={talks} shown={id} className={id ? "max-md:hidden" : ""} />
      <div className="flex min-h-0 min-w-0 flex-col">
        {id && id !== "new" ? <Conversation key={id} sessionId={id} title={title} /> : <NewTalk isAlone={id === "new"} />}
      </div>
    </main>
  );
}
