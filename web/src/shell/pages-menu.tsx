import { ChevronDown } from "lucide-react";

import { usePages, type Page } from "../pages";
import { Link } from "../router";
import { ITEM, Menu } from "../ui/menu";
import { PageCount, Waiting } from "./waiting";

/** The navigation of a small screen: the current page, and a menu of the others. */
export function PagesMenu({ here, waiting, className }: { here: Page; waiting: number; className: string }) {
  const pages = usePages();
  return (
    <Menu
      className="max-h-[80dvh] w-56 overflow-auto"
      trigger={(button) => (
        <button type="button" {...button} className={`flex items-center gap-2 rounded-md px-2 py-1.5 font-medium hover:bg-raised aria-expanded:bg-raised ${className}`}>
          <here.Icon size={15} aria-hidden />
          {here.title}
          <Waiting count={waiting} className="" />
          <ChevronDown size={14} className="text-soft" aria-hidden />
        </button>
      )}
    >
      {pages.map(({ name, title, Icon }) => (
        <Link
          key={name}
          role="menuitem"
          href={`/${name}`}
          aria-current={name === here.name ? "page" : undefined}
          className={`flex items-center gap-2.5 ${ITEM} ${name === here.name ? "font-medium" : "text-soft"}`}
        >
          <Icon size={15} aria-hidden />
          {title}
          <PageCount page={name} />
        </Link>
      ))}
    </Menu>
  );
}
