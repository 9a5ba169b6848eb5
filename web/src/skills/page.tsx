import { useQuery } from "@tanstack/react-query";
import { GraduationCap } from "lucide-react";
import { useState } from "react";

import { ask } from "../api/client";
import { usePath } from "../api/session";
import type { SkillResponse, SkillsResponse, SkillView } from "../api/types";
import { Answer } from "../ui/answer";
import { Code } from "../ui/code";
import { Empty } from "../ui/empty";
import { List } from "../ui/list";
import { Page } from "../ui/page";
import { Search } from "../ui/search";
import { Tag } from "../ui/tag";
import { TextBlock } from "../ui/text-block";
import { Unfold } from "../ui/unfold";
import { Warning } from "../ui/warning";
import { matches } from "../words/matches";
import { visible } from "../words/visible";

/** The skills that agents can load, with their text. */
export default function SkillsPage() {
  const path = usePath();
  const [search, setSearch] = useState("");
  const skills = useQuery({ queryKey: ["skills", path("")], queryFn: () => ask<SkillsResponse>("GET", path("/skills")) });
  return (
    <Page
      title="Skills"
      about={
        <>
          Instructions that an agent loads when a task needs them. Your own are in the folder <Code>skills</Code> of Handrail’s home, by default <Code>~/.handrail</Code>.
        </>
      }
      tools={<Search label="Search skills" value={search} onChange={setSearch} className="w-full sm:w-64" />}
    >
      <Answer to={skills}>{(told) => <Skills told={told} search={search} />}</Answer>
    </Page>
  );
}

function Skills({ told, search }: { told: SkillsResponse; search: string }) {
  const found = told.skills.filter((one) => matches(search, one.name, one.description));
  return (
    <>
      {told.warnings.map((warning) => (
        <Warning key={warning} className="mb-3">
          {visible(warning)}
        </Warning>
      ))}
      {found.length === 0 ? (
        <Empty icon={<GraduationCap size={20} />} title={search ? "No skill matches" : "No skills"} />
      ) : (
        <List label="Skills">
          {found.map((one) => (
            <Skill key={one.name} skill={one} />
          ))}
        </List>
      )}
    </>
  );
}

function Skill({ skill }: { skill: SkillView }) {
  return (
    <li className="px-4 py-3">
      <Unfold title={visible(skill.name)} tags={<Tag>{skill.builtin ? "built in" : "yours"}</Tag>} inside={() => <Body name={skill.name} />}>
        <p className="text-soft [overflow-wrap:anywhere]">{visible(skill.description)}</p>
      </Unfold>
    </li>
  );
}

function Body({ name }: { name: string }) {
  const path = usePath();
  const skill = useQuery({
    queryKey: ["skills", path(""), name],
    queryFn: () => ask<SkillResponse>("GET", path(`/skills/${encodeURIComponent(name)}`)),
  });
  return <Answer to={skill}>{(told) => <TextBlock text={told.body} label={`Instructions of ${visible(name)}`} />}</Answer>;
}
