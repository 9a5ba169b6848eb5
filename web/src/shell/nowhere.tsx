import { FileQuestion } from "lucide-react";

import { Link } from "../router";
import { Empty } from "../ui/empty";

export function Nowhere() {
  return (
    <main className="h-full">
      <Empty icon={<FileQuestion size={20} />} title="There is no such page">
        <Link href="/approvals" className="text-accent underline underline-offset-2">
          Show open requests
        </Link>
      </Empty>
    </main>
  );
}
