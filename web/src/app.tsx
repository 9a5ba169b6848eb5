import { useQueryClient } from "@tanstack/react-query";
import { Suspense, useEffect } from "react";

import { renew } from "./api/renew";
import { LinkUsed, SessionProvider, useSignedIn, useSigningInAndOut, type Session } from "./api/session";
import { stream } from "./api/stream";
import { useApprovalEvents } from "./approvals/pending";
import { useChatEvents } from "./chat/talk";
import { usePage } from "./pages";
import { useNotifications } from "./shell/notify";
import { PageGuard } from "./shell/page-guard";
import { Shell } from "./shell/shell";
import { SignIn } from "./shell/sign-in";
import { useAfter } from "./ui/after";

export function App() {
  const signedIn = useSignedIn();
  useSigningInAndOut();
  // Also over the pages of who is signed in already.
  if (signedIn.error instanceof LinkUsed) return <SignIn trouble={signedIn.error} />;
  if (signedIn.data) return <SignedIn session={signedIn.data} />;
  if (signedIn.isFetching) return null;
  return <SignIn trouble={signedIn.error} />;
}

function SignedIn({ session }: { session: Session }) {
  const queries = useQueryClient();
  useEffect(() => {
    stream.open(session.project.project_id);
    // Changes may have been missed while there was no connection.
    const stop = stream.onOpen(() => renew(queries, { predicate: (one) => one.queryKey[0] !== "session" }));
    return () => {
      stop();
      stream.close();
    };
  }, [session.project.project_id, queries]);
  return (
    <SessionProvider session={session}>
      <Shell>
        <Suspense>
          <Page />
        </Suspense>
      </Shell>
    </SessionProvider>
  );
}

/** Shown only after a while: most pages load before it could be read. */
function Fetching() {
  return useAfter(1_000) && <p className="p-6 text-soft">Loading this page. It appears as soon as the server answers.</p>;
}
function Page() {
  useApprovalEvents();
  useChatEvents();
  useNotifications();
  const { name, Show } = usePage();
  return (
    <PageGuard key={name}>
      <Suspense fallback={<Fetching />}>
        <Show />
      </Suspense>
    </PageGuard>
  );
}
